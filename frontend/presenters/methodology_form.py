"""The form of a methodology: the lines it shows, and what somebody sent in them.

Phases, relays and types are lines of the same fields; a line in which nothing is written is left
out. What is wrong with a line is said by its JSON pointer, as over REST.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from django.http import QueryDict

from accounts.errors import InvalidInput, wrong_field
from memory.customization import custom_type_rules
from memory.customization.actions import Course
from memory.customization.custom_type_rules import OwnType
from memory.customization.methodology import OnComplete, Transition
from memory.customization.queries import MethodologyView
from memory.taxonomy import MemoryType

PHASE: Final = ("phase", "is")  # the fields of a line
RELAY: Final = ("from", "to", "passes")
TYPE: Final = ("type", "base", "says")
CHOSEN: Final = frozenset({"is", "base"})  # which always have a value
ROOM: Final = {PHASE: 3, RELAY: 1, TYPE: 1}  # lines to write in, beside those there are

Line = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a form shows; lines are values of `PHASE`, `RELAY` and `TYPE`."""

    name: str = ""
    phases: tuple[Line, ...] = ()
    relays: tuple[Line, ...] = ()
    types: tuple[Line, ...] = ()
    on_complete: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A line of a form, numbered from 1; `is_wrong`: it is what a refusal speaks of."""

    number: int
    values: Line
    is_wrong: bool = False


def of_view(*, view: MethodologyView) -> Form:
    """Return the form of a methodology there is."""
    return Form(
        name=view.name,
        phases=tuple((name, phase.value) for name, phase in view.phases.items()),
        relays=tuple((one.before, one.after, _listed(one.types)) for one in view.relays),
        types=tuple((one.name, one.base.value, one.says) for one in view.types),
        on_complete=tuple(one.value for one in view.on_complete),
    )


def of_sent(*, sent: QueryDict, shown: Callable[[str], str] = str) -> Form:
    """Return what somebody sent, each text as it is to be shown."""

    def lines(fields: tuple[str, ...]) -> tuple[Line, ...]:
        columns = (map(shown, sent.getlist(field)) for field in fields)
        rows = zip_longest(*columns, fillvalue="")
        stripped = (tuple(value.strip() for value in row) for row in rows)
        return tuple(row for row in stripped if _is_written(row, fields))

    return Form(
        name=shown(sent.get("name", "")).strip(),
        phases=lines(PHASE),
        relays=lines(RELAY),
        types=lines(TYPE),
        on_complete=tuple(map(shown, sent.getlist("on_complete"))),
    )


def phases_of(*, form: Form) -> dict[str, str]:
    """Return the phases of a form. Raises InvalidInput for one that is named twice."""
    named = [line[0] for line in form.phases]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise wrong_field(
            pointer=f"/phases/{twice}",
            detail="A phase is named once.",
            hint="Take one of its lines away.",
            code="twice",
        )
    return {line[0]: line[1] for line in form.phases}


def course_of(*, form: Form) -> Course:
    """Return how work goes on by a form. Raises InvalidInput for what no form offers."""
    return Course(
        relays=tuple(
            Transition(before=before, after=after, types=frozenset(_apart(passes)))
            for before, after, passes in form.relays
        ),
        on_complete=tuple(_end(one) for one in form.on_complete),
        types=tuple(
            OwnType(name=name, base=_base(base, place), says=says)
            for place, (name, base, says) in enumerate(form.types)
        ),
    )


def shown_lines(*, form: Form, error: InvalidInput | None, room: int) -> dict[str, object]:
    """Return the lines of a form with as much room again as `room` says, for the page."""
    wrong = error.errors[0].pointer if error is not None and error.errors else ""
    at = (f"/phases/{line[0]}" for line in form.phases)
    return {
        "phase_lines": _numbered(form.phases, tuple(at), wrong, PHASE, room),
        "relay_lines": _numbered(form.relays, _places("relays", form.relays), wrong, RELAY, room),
        "type_lines": _numbered(form.types, _places("types", form.types), wrong, TYPE, room),
    }


def _places(name: str, lines: tuple[Line, ...]) -> tuple[str, ...]:
    return tuple(f"/{name}/{place}" for place in range(len(lines)))


def _numbered(
    lines: tuple[Line, ...], at: tuple[str, ...], wrong: str, fields: tuple[str, ...], room: int
) -> tuple[Shown, ...]:
    written = zip(lines, at, strict=True)
    marked = [(line, f"{wrong}/".startswith(f"{place}/")) for line, place in written]
    empty = [(("",) * len(fields), False)] * (ROOM[fields] * room)
    return tuple(
        Shown(number=number, values=line, is_wrong=is_wrong)
        for number, (line, is_wrong) in enumerate([*marked, *empty], start=1)
    )


def _is_written(row: Line, fields: tuple[str, ...]) -> bool:
    return any(value for value, field in zip(row, fields, strict=True) if field not in CHOSEN)


def _listed(types: Iterable[str]) -> str:
    return ", ".join(sorted(map(str, types)))


def _apart(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _base(text: str, place: int) -> MemoryType:
    if text in custom_type_rules.OURS:
        return MemoryType(text)
    raise wrong_field(
        pointer=f"/types/{place}/base",
        detail="There is no such type of memory.",
        hint="Choose one from the list.",
        code="choice",
    )


def _end(text: str) -> OnComplete:
    if text in set(OnComplete):
        return OnComplete(text)
    raise wrong_field(
        pointer="/on_complete",
        detail="No methodology does this when work ends.",
        hint="Choose from the list.",
        code="choice",
    )
