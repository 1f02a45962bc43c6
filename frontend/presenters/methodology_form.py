"""The form of a methodology: the lines it shows, and what somebody sent in them.

Phases, relays and types are lines of the same fields; a line in which nothing is written is left
out. What is wrong with a line is said by its JSON pointer, as over REST.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from django.http import QueryDict

from accounts.errors import InvalidInput, wrong_field
from memory.customization import custom_type_rules
from memory.customization.actions import Course
from memory.customization.custom_type_rules import OwnType
from memory.customization.phases import OnComplete, Transition
from memory.customization.queries import MethodologyView
from memory.taxonomy import MemoryType

Line = tuple[str, ...]

PHASE: Final = ("phase", "is")  # the fields of a line
RELAY: Final = ("from", "to", "passes")
TYPE: Final = ("type", "base", "says")
CHOSEN: Final = frozenset({"is", "base"})  # which always have a value
ROOM: Final = {PHASE: 3, RELAY: 1, TYPE: 1}  # lines to write in, beside those there are


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyForm:
    """What a form shows; lines are values of `PHASE`, `RELAY` and `TYPE`."""

    name: str = ""
    phases: tuple[Line, ...] = ()
    relays: tuple[Line, ...] = ()
    types: tuple[Line, ...] = ()
    on_complete: tuple[str, ...] = ()


def of_view(*, view: MethodologyView) -> MethodologyForm:
    """Return the form of a methodology there is."""
    return MethodologyForm(
        name=view.name,
        phases=tuple((name, phase.value) for name, phase in view.phases.items()),
        relays=tuple(
            (one.before, one.after, ", ".join(sorted(map(str, one.types)))) for one in view.relays
        ),
        types=tuple((one.name, one.base.value, one.says) for one in view.types),
        on_complete=tuple(one.value for one in view.on_complete),
    )


def of_sent(*, sent: QueryDict, shown: Callable[[str], str] = str) -> MethodologyForm:
    """Return what somebody sent, each text as it is to be shown."""

    def lines(fields: tuple[str, ...]) -> tuple[Line, ...]:
        columns = (map(shown, sent.getlist(field)) for field in fields)
        rows = zip_longest(*columns, fillvalue="")
        stripped = [tuple(value.strip() for value in row) for row in rows]
        written = [place for place, field in enumerate(fields) if field not in CHOSEN]
        return tuple(row for row in stripped if any(row[place] for place in written))

    return MethodologyForm(
        name=shown(sent.get("name", "")).strip(),
        phases=lines(PHASE),
        relays=lines(RELAY),
        types=lines(TYPE),
        on_complete=tuple(map(shown, sent.getlist("on_complete"))),
    )


def phases_of(*, form: MethodologyForm) -> dict[str, str]:
    """Return the phases of a form. Raises InvalidInput for one that is named twice."""
    named = [line[0] for line in form.phases]
    for name in named:
        if named.count(name) > 1:
            raise wrong_field(
                pointer=f"/phases/{name}",
                detail="A phase is named once.",
                hint="Take one of its lines away.",
                code="twice",
            )
    return {line[0]: line[1] for line in form.phases}


def course_of(*, form: MethodologyForm) -> Course:
    """Return how work goes on by a form. Raises InvalidInput for what no form offers."""
    for place, (_name, base, _says) in enumerate(form.types):
        if base not in custom_type_rules.OURS:
            raise wrong_field(
                pointer=f"/types/{place}/base",
                detail="There is no such type of memory.",
                hint="Choose one from the list.",
                code="choice",
            )
    if not set(form.on_complete) <= set(OnComplete):
        raise wrong_field(
            pointer="/on_complete",
            detail="No methodology does this when work ends.",
            hint="Choose from the list.",
            code="choice",
        )
    return Course(
        relays=tuple(
            Transition(
                before=before,
                after=after,
                types=frozenset(part.strip() for part in passes.split(",") if part.strip()),
            )
            for before, after, passes in form.relays
        ),
        on_complete=tuple(map(OnComplete, form.on_complete)),
        types=tuple(
            OwnType(name=name, base=MemoryType(base), says=says) for name, base, says in form.types
        ),
    )


def numbered_lines(
    *, form: MethodologyForm, error: InvalidInput | None, room: int
) -> dict[str, list[tuple[int, Line, bool]]]:
    """Return the lines of a form with as much room again as `room` says, for the page.

    A line is numbered from 1, and says whether it is what the refusal speaks of.
    """
    wrong = error.errors[0].pointer if error is not None and error.errors else ""

    def numbered(name: str, lines: tuple[Line, ...], fields: Line) -> list[tuple[int, Line, bool]]:
        keys = (line[0] if fields is PHASE else str(at) for at, line in enumerate(lines))
        marked = [f"{wrong}/".startswith(f"/{name}/{key}/") for key in keys]
        empty = ROOM[fields] * room
        rows = zip(
            [*lines, *[("",) * len(fields)] * empty], [*marked, *[False] * empty], strict=True
        )
        return [(number, line, is_wrong) for number, (line, is_wrong) in enumerate(rows, start=1)]

    return {
        "phase_lines": numbered("phases", form.phases, PHASE),
        "relay_lines": numbered("relays", form.relays, RELAY),
        "type_lines": numbered("types", form.types, TYPE),
    }
