"""What the fields of a candidate may hold: lengths, characters, choices, payloads, no secrets.

A secret in the content is for the gates to refuse; one in any other field is a fault of that field.

Six types have a payload, what `attributes` may hold, as a table. Empty attributes are always right:
the payload refines a memory, its content stands alone. Once something is given, the required fields
must be there, the others are optional, and an unknown name is refused, since it is mostly a
misspelling. Types without a payload keep what they are given.
"""

import json
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from accounts.errors import FieldError, InvalidInput
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.secrets import findings as secrets
from memory.secrets import scanner
from memory.taxonomy import MemoryType, Reach, Scope, Source
from memory.text import text as texts

LONGEST: Final[Mapping[str, int]] = {  # characters, the columns'
    "external_id": 200,
    "source_uri": 500,
    "source_hash": 64,
    "phase": 20,
    "methodology": 40,
    "commit_sha": 64,
    "thread": 200,
    "session": 200,
    "project": 64,
    "team": 64,
}
LISTS: Final[Mapping[str, tuple[int, int]]] = {  # entries and characters each
    "tags": (64, 64),
    "related_files": (64, 400),
    "related_modules": (64, 200),
}
CHOICES: Final = {"type": MemoryType, "scope": Scope, "reach": Reach, "source": Source}
KNOWN: Final = {name: frozenset(known) for name, known in CHOICES.items()}
LARGEST_LINE: Final = 2_147_483_647  # of an integer column
LONGEST_ATTRIBUTES: Final = 20_000  # characters as JSON; default
DEEPEST: Final = 32  # levels of nesting
APART: Final = "\n" * 4  # between texts looked at together, more than a name and its value
HINT: Final = "Correct the named fields and send it again."
Fields = Mapping[str, str]  # what each field holds, by its name

_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "payloads.toml")
PAYLOADS: Final[Mapping[MemoryType, tuple[Fields, Fields]]] = {  # required, optional
    MemoryType(name): (row["required"], row["optional"]) for name, row in _TABLES["types"].items()
}
_STEP: Final[tuple[Fields, Fields]] = (_TABLES["step"]["required"], _TABLES["step"]["optional"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What someone wants to be remembered."""

    content: str
    source: str
    type: str | None = None
    project: str | None = None
    external_id: str = ""
    former_external_id: str = ""  # of its earlier wording, said by an import alone
    tags: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()
    related_modules: tuple[str, ...] = ()
    scope: str | None = None
    team: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    confidence_floor: float = 0.0
    pinned: bool = False
    event_at: datetime | None = None
    reach: str = Reach.GLOBAL.value
    phase: str = ""
    methodology: str = ""
    source_uri: str = ""
    source_hash: str = ""
    source_line: int | None = None
    commit_sha: str = ""
    thread: str = ""
    session: str = ""
    position: int | None = None
    needs_review: bool = False
    taint_reason: str = ""  # said by the observer alone, never by a caller
    own_type: str = ""  # what it is called already, never said by a caller
    session_id: UUID | None = None
    work_unit: Mapping[str, str] = field(default_factory=dict)  # of its session, never of a caller
    is_evidenced: bool = False  # its agent answers with it what it was asked, never said by it


def check_fields(*, new: NewMemory) -> None:
    """Check everything that can be checked without the store. Raises InvalidInput."""
    errors = _shape_errors(new) or (
        *(
            _fault(pointer, message("The text has a {kind} character.", kind=kind), "text")
            for pointer, _, text in (("/content", "", new.content), *_short_texts(new))
            if (kind := texts.check_text(text=text))
        ),
        *_length_errors(new),
        *_choice_errors(new),
        *_figure_errors(new),
        *_place_errors(new),
    )
    if not errors:
        type = MemoryType(new.type) if new.type else None
        wrong = check_attributes(type=type, attributes=new.attributes) if type else ()
        errors = _secret_errors(new) or wrong  # what tells of a wrong value may repeat it
    if errors:
        raise InvalidInput(detail=errors[0].detail, hint=HINT, errors=errors)


def fitting(*, name: str, found: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries found in a text that fit into this list; given ones come first."""
    most, longest = LISTS[name]
    return tuple(entry for entry in found if len(entry) <= longest)[:most]


def _short_texts(new: NewMemory) -> Iterator[tuple[str, str, str]]:
    """Yield every text but the content: a pointer to it, the name it stands under, and it."""
    for name in LONGEST:
        if text := getattr(new, name):
            yield f"/{name}", "", text
    for name in LISTS:
        for position, text in enumerate(getattr(new, name)):
            yield f"/{name}/{position}", "", text
    yield from _leaves("/attributes", new.attributes, "")


def _leaves(pointer: str, value: Any, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield every text of a payload, names included, with a pointer to it and its name."""
    if isinstance(value, str):
        yield pointer, name, value
    elif isinstance(value, Mapping):
        yield from ((pointer, "", key) for key in value)
        for key, inner in value.items():
            yield from _leaves(f"{pointer}/{key}", inner, key)
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _leaves(f"{pointer}/{position}", inner, name)


def _is_deeper(value: Any, *, than: int) -> bool:
    if not isinstance(value, Mapping | list | tuple):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return than == 0 or any(_is_deeper(item, than=than - 1) for item in inner)


def _shape_errors(new: NewMemory) -> tuple[FieldError, ...]:
    if _is_deeper(new.attributes, than=DEEPEST):
        return (
            _fault("/attributes", message("Nest at most {most} levels.", most=DEEPEST), "depth"),
        )
    try:
        written = json.dumps(new.attributes, allow_nan=False)
    except (TypeError, ValueError):
        return (_fault("/attributes", "Use texts, finite numbers, lists and objects.", "shape"),)
    if len(written) > LONGEST_ATTRIBUTES:
        detail = message("Use at most {most} characters of JSON.", most=LONGEST_ATTRIBUTES)
        return (_fault("/attributes", detail, "length"),)
    return ()


def _length_errors(new: NewMemory) -> Iterator[FieldError]:
    for name, longest in LONGEST.items():
        if len(getattr(new, name) or "") > longest:
            detail = message("Use at most {most} characters.", most=longest)
            yield _fault(f"/{name}", detail, "length")
    for name, (most, longest) in LISTS.items():
        entries = getattr(new, name)
        has_type_mark = name == "tags" and bool(custom_type_rules.named(tags=entries))
        if len(entries) > most + has_type_mark:
            detail = message("At most {most} are allowed.", most=most)
            yield _fault(f"/{name}", detail, "too_many")
        for position, entry in enumerate(entries):
            if not 0 < len(entry) <= longest:
                detail = message("Use 1 to {most} characters.", most=longest)
                yield _fault(f"/{name}/{position}", detail, "length")


def _choice_errors(new: NewMemory) -> Iterator[FieldError]:
    for name, known in CHOICES.items():
        value = getattr(new, name)
        if value and value not in KNOWN[name]:
            names = tuple(item.value for item in known)
            detail = message("{value!r} is not one of: {names}.", value=value, names=names)
            yield _fault(f"/{name}", detail, "choice")


def _figure_errors(new: NewMemory) -> Iterator[FieldError]:
    if new.confidence is not None and not 0 <= new.confidence <= 1:
        yield _fault("/confidence", "Use a number from 0 to 1.", "range")
    if not 0 <= new.confidence_floor <= 1:
        yield _fault("/confidence_floor", "Use a number from 0 to 1.", "range")
    if new.source_line is not None and not 0 <= new.source_line <= LARGEST_LINE:
        yield _fault("/source_line", "Use the number of a line.", "range")
    if new.event_at is not None and new.event_at.tzinfo is None:
        yield _fault("/event_at", "Name the time zone.", "time_zone")
    elif new.event_at is not None and not texts.is_storable_time(time=new.event_at):
        detail = message(
            "Use a moment of the years {first} to {last}.", first=texts.EARLIEST, last=texts.LATEST
        )
        yield _fault("/event_at", detail, "range")


def _place_errors(new: NewMemory) -> Iterator[FieldError]:
    if new.position is not None and not 0 <= new.position <= LARGEST_LINE:
        yield _fault("/position", "Use the number of a turn.", "range")
    if new.position is not None and not (new.thread or new.session):
        yield _fault("/position", "Name the thread or the session that it is a place in.", "alone")


def _find_touched(wholes: list[str]) -> set[int]:
    """Return the places of the texts in which secrets are, looking at all of them at once."""
    findings = scanner.find_secrets(text=APART.join(wholes))
    starts = tuple(accumulate((len(whole) + len(APART) for whole in wholes), initial=0))
    return {
        at
        for found in findings
        for at in range(bisect(starts, found.start) - 1, bisect(starts, found.end - 1))
    }


def _secret_errors(new: NewMemory) -> tuple[FieldError, ...]:
    """Look at all short texts at once; only those in which that finds something, one by one."""
    short = tuple(_short_texts(new))
    texts = [(pointer, "", text) for pointer, _, text in short]  # a name says what a value does not
    texts += [(pointer, f"{name}: ", text) for pointer, name, text in short if name]
    wholes = [f"{before}{text}" for _, before, text in texts]
    errors: dict[str, FieldError] = {}
    refused: list[str] = []  # names among them, which no pointer repeats
    for at in sorted(_find_touched(wholes)):
        pointer, before, text = texts[at]
        if len(errors) == secrets.MOST_NAMED or any(name in pointer for name in refused):
            continue
        for error in _secret_error(pointer, text, before=before):
            errors.setdefault(pointer, error)
            refused.append(text)
    return tuple(errors.values())


def _secret_error(pointer: str, text: str, *, before: str = "") -> tuple[FieldError, ...]:
    """Tell what a text holds, where that stands in the text; what is before it is its name."""
    findings = tuple(
        replace(found, start=max(0, found.start - len(before)), end=found.end - len(before))
        for found in scanner.find_secrets(text=f"{before}{text}")
        if found.end > len(before)
    )
    if not findings:
        return ()
    told = secrets.message_of(text=text, findings=findings)
    return (_fault(pointer, told, "secret"),)


def _fault(pointer: str, detail: str, code: str) -> FieldError:
    return FieldError(pointer=pointer, detail=detail, code=code)


def check_attributes(
    *, type: MemoryType, attributes: Mapping[str, object]
) -> tuple[FieldError, ...]:
    """Find what is wrong with the payload of a type; an empty tuple means nothing is."""
    if type not in PAYLOADS or not attributes:
        return ()
    return tuple(_check_fields(*PAYLOADS[type], attributes, at="/attributes"))


def _check_fields(
    required: Fields, optional: Fields, given: Mapping[str, object], *, at: str
) -> Iterator[FieldError]:
    fields = {**required, **optional}
    for name in required:
        if given.get(name) is None:
            yield _fault(f"{at}/{name}", "This field is required.", "required")
    for name in given:
        if name not in fields:
            known = message("Unknown field; known are {names}.", names=tuple(sorted(fields)))
            yield _fault(f"{at}/{name}", known, "unknown")
    for name, holds in fields.items():
        if given.get(name) is not None:
            yield from _check_value(holds, given[name], at=f"{at}/{name}")


def _check_value(holds: str, value: object, *, at: str) -> Iterator[FieldError]:
    if holds != "steps":
        is_right, expected = _CHECKS[holds]
        if not is_right(value):
            yield _fault(at, message("Expected {what}.", what=expected), "wrong_type")
    elif not isinstance(value, list | tuple) or not value:
        yield _fault(at, message("Expected a list of at least one step."), "wrong_type")
    else:
        for position, step in enumerate(value):
            where = f"{at}/{position}"
            if isinstance(step, Mapping):
                yield from _check_fields(*_STEP, step, at=where)
            else:
                detail = message("Expected an object with order and description.")
                yield _fault(where, detail, "wrong_type")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_timestamp(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


_CHECKS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "text": (_is_text, message("a text that is not empty")),
    "texts": (
        lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)),
        message("a list of texts"),
    ),
    "count": (
        lambda value: isinstance(value, int) and _is_amount(value),
        message("a whole number of 0 or more"),
    ),
    "amount": (_is_amount, message("a number of 0 or more")),
    "flag": (lambda value: isinstance(value, bool), message("true or false")),
    "timestamp": (_is_timestamp, message("an ISO 8601 moment with its time zone")),
}
