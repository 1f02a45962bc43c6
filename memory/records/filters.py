"""The query box: `is:stale type:gotcha,decision file:middleware/* conf:>0.7 redis`.

Pure. Text becomes Filters, Filters become the same text again, and chips for the page. Words
without a key are what to search for. An unknown key or a wrong value says where and what would do;
whether a methodology adds a type of that name, only the store knows. A state is a facet of a memory
(`states_of` in memory/search/sql/functions.sql) where it is anything but just active: what it ended
as, and that it is pinned, stale or to be reviewed.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from accounts.errors import FieldError, InvalidInput, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.taxonomy import MemoryType, Status

STATES = ("active", "stale", "pinned", "review", "superseded", "archived", "any")
PART = re.compile(r'(?:[^\s"]|"[^"]*")+|\S+')  # up to a space outside of quotes
KEYS = ("is", "type", "tag", "file", "module", "topic", "by", "conf")
ENDED: Final = (Status.SUPERSEDED.value, Status.ARCHIVED.value)
EITHER_END: Final = "ended"


class FilterError(InvalidInput):
    """A part of the query box that cannot be understood."""

    code = "wrong_filter"
    title = "The filter is not understood"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a list of memories is narrowed to; empty means everything that is active."""

    project: str | None = None
    text: str = ""
    types: tuple[str, ...] = ()
    status: tuple[str, ...] = (Status.ACTIVE.value,)
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    author: str | None = None
    minimum_confidence: float | None = None
    maximum_confidence: float | None = None
    pinned: bool | None = None
    needs_review: bool | None = None
    stale: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """States a memory must be in, all of them, and those it must not be in.

    `none_of` None: only what is live, which is active and not stale.
    """

    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] | None = None


LIVE: Final = States()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One filter as the page shows it; `without` is the query box text after removing it."""

    label: str
    without: str


def parse(*, text: str, project: str | None = None) -> Filters:
    """Read the query box. Raises FilterError naming the part and what would be right."""
    filters = Filters(project=project)
    words: list[str] = []
    states: list[str] = []
    for part in PART.findall(text):
        key, colon, value = part.partition(":")
        if not colon or key not in KEYS:
            words.append(part)
        elif key == "is":
            states.extend(_values(key, value))
        else:
            filters = _with(filters, key, value.replace('"', ""))
    return replace(_with_states(filters, tuple(states)), text=" ".join(words))


def render(*, filters: Filters) -> str:
    """Return the query box text of filters; parse(render(f)) is f."""
    return " ".join([*_terms(filters), *([filters.text] if filters.text else [])])


def in_states(*, names: tuple[str, ...]) -> Filters:
    """Return filters that show these STATES alone. Raises FilterError for another name."""
    return _with_states(Filters(), names)


def chips(*, filters: Filters) -> tuple[Chip, ...]:
    """Return one chip a filter, with the text that remains without it."""
    terms = _terms(filters)
    rest = [filters.text] if filters.text else []
    return tuple(
        Chip(label=term, without=" ".join([*terms[:i], *terms[i + 1 :], *rest]))
        for i, term in enumerate(terms)
    )


def named_states(*, names: tuple[str, ...]) -> States:
    """Return the states that names of the query box mean; none of them: what is live."""
    return states_of(filters=in_states(names=names))


def check_live(*, names: tuple[str, ...]) -> None:
    """Refuse states where only what is live is looked through."""
    if names:
        raise wrong_field(
            pointer="/states",
            detail="A pattern looks through what is live.",
            hint="Leave out the states, or search by words.",
            code="conflict",
        )


def states_of(*, filters: Filters) -> States:
    """Return the states that a list of these filters shows; like search, without stale unasked."""
    flags = {"pinned": filters.pinned, "review": filters.needs_review, "stale": filters.stale}
    on = tuple(name for name, wanted in flags.items() if wanted)
    off = tuple(name for name, wanted in flags.items() if wanted is False)
    if filters.status == (Status.ACTIVE.value,) and not filters.stale and not off:
        return States(all_of=on)
    ends = tuple(end for end in ENDED if end in filters.status)
    if Status.ACTIVE.value not in filters.status:
        on = (*on, ends[0] if len(ends) == 1 else EITHER_END)
    others = tuple(end for end in ENDED if end not in ends)
    return States(all_of=on, none_of=(*off, *others, Status.DELETED.value))


def _values(key: str, value: str) -> tuple[str, ...]:
    values = tuple(item for item in value.split(",") if item)
    if not values:
        raise _wrong(key, value, message("Write something after {key}:.", key=key))
    return values


def _with(filters: Filters, key: str, value: str) -> Filters:
    values = _values(key, value)
    if key == "type":
        return replace(filters, types=(*filters.types, *_types(values)))
    if key == "conf":
        return _with_confidence(filters, value)
    if key == "by":
        return replace(filters, author=value)
    field = {"tag": "tags", "file": "files", "module": "modules", "topic": "topics"}[key]
    added: dict[str, Any] = {field: (*getattr(filters, field), *values)}
    return replace(filters, **added)


def _with_states(filters: Filters, values: tuple[str, ...]) -> Filters:
    for value in values:
        if value not in STATES:
            raise _wrong("is", value, message("Use one of: {names}.", names=tuple(STATES)))
    flags = {"pinned": "pinned", "review": "needs_review", "stale": "stale"}
    chosen: dict[str, Any] = {flags[value]: True for value in values if value in flags}
    kept = tuple(dict.fromkeys(value for value in values if value not in flags))
    status = tuple(Status) if "any" in kept else kept or (Status.ACTIVE.value,)
    return replace(filters, status=tuple(str(item) for item in status), **chosen)


def _types(values: tuple[str, ...]) -> tuple[str, ...]:
    known = {item.value for item in MemoryType}
    for value in values:
        if value not in known and not custom_type_rules.is_own(name=value):
            raise _wrong("type", value, "Use a type such as gotcha, decision or fact.")
    return values


def _with_confidence(filters: Filters, value: str) -> Filters:
    sign, digits = (value[0], value[1:]) if value[:1] in {">", "<"} else (">", value)
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise _wrong("conf", value, "Write conf:>0.7 or conf:<0.4.")
    field = "minimum_confidence" if sign == ">" else "maximum_confidence"
    bound: dict[str, Any] = {field: number}
    return replace(filters, **bound)


def _terms(filters: Filters) -> list[str]:
    terms = [f"is:{state}" for state in _states(filters)]
    if filters.types:
        terms.append(f"type:{','.join(filters.types)}")
    terms.extend(_quoted("tag", tag) for tag in filters.tags)
    terms.extend(_quoted("file", file) for file in filters.files)
    terms.extend(_quoted("module", module) for module in filters.modules)
    terms.extend(_quoted("topic", topic) for topic in filters.topics)
    if filters.author:
        terms.append(_quoted("by", filters.author))
    if filters.minimum_confidence is not None:
        terms.append(f"conf:>{filters.minimum_confidence!r}".removesuffix(".0"))
    if filters.maximum_confidence is not None:
        terms.append(f"conf:<{filters.maximum_confidence!r}".removesuffix(".0"))
    return terms


def _states(filters: Filters) -> list[str]:
    states = []
    if set(filters.status) == {item.value for item in Status}:
        states.append("any")
    elif filters.status != (Status.ACTIVE.value,):
        states.extend(filters.status)
    states.extend(
        name
        for name, on in (
            ("pinned", filters.pinned),
            ("review", filters.needs_review),
            ("stale", filters.stale),
        )
        if on
    )
    return [",".join(states)] if states else []


def _quoted(key: str, value: str) -> str:
    return f'{key}:"{value}"' if any(map(str.isspace, value)) else f"{key}:{value}"


def _wrong(key: str, value: str, hint: str) -> FilterError:
    term = f"{key}:{value}"
    return FilterError(
        detail=message("{term} is not a filter.", term=term),
        hint=hint,
        errors=(FieldError(pointer="/q", detail=term, code="wrong_filter"),),
    )
