"""The query box: `is:stale type:gotcha,decision file:middleware/* conf:>0.7 redis`.

Pure. Text becomes Filters, Filters become the same text again, and chips for the page. Words
without a key are what to search for. An unknown key or a wrong value says where and what would do;
whether a methodology adds a type of that name, only the store knows. A state is a facet of a memory
(`states_of` in memory/search/sql/functions.sql) where it is anything but just active: what it ended
as, and that it is pinned, stale or to be reviewed.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from accounts.errors import FieldError, InvalidInput, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.taxonomy import MemoryType, Status

STATES = ("active", "stale", "pinned", "review", "superseded", "archived", "any")
PART = re.compile(r'(?:[^\s"]|"[^"]*")+|\S+')  # up to a space outside of quotes
KEYS = ("is", "type", "tag", "file", "module", "topic", "by", "conf")
LISTS: Final = {  # keys and the fields that hold their values
    "type": "types", "tag": "tags", "file": "files", "module": "modules", "topic": "topics",
}  # fmt: skip
FLAGS: Final = {"pinned": "pinned", "review": "needs_review", "stale": "stale"}  # states as fields
TYPES: Final = frozenset(item.value for item in MemoryType)
ALL: Final = tuple(item.value for item in Status)
ENDED: Final = (Status.SUPERSEDED.value, Status.ARCHIVED.value)
EITHER_END: Final = "ended"


class FilterError(InvalidInput, code="wrong_filter", title="The filter is not understood"):
    """A part of the query box that cannot be understood."""


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
    found: dict[str, Any] = {}
    words: list[str] = []
    states: list[str] = []
    for part in PART.findall(text):
        key, colon, value = part.partition(":")
        if not colon or key not in KEYS:
            words.append(part)
            continue
        bare = value if key == "is" else value.replace('"', "")
        values = tuple(filter(None, bare.split(",")))
        if not values:
            raise _wrong(key, bare, message("Write something after {key}:.", key=key))
        if key == "is":
            states.extend(values)
        elif key == "by":
            found["author"] = bare
        elif key == "conf":
            found |= _read_bound(bare)
        else:
            if key == "type":
                _check_types(values)
            found[LISTS[key]] = (*found.get(LISTS[key], ()), *values)
    found |= _read_states(tuple(states))
    return Filters(project=project, text=" ".join(words), **found)


def render(*, filters: Filters) -> str:
    """Return the query box text of filters; parse(render(f)) is f."""
    return " ".join([*_terms(filters), *([filters.text] if filters.text else [])])


def chips(*, filters: Filters) -> tuple[Chip, ...]:
    """Return one chip a filter, with the text that remains without it."""
    terms = _terms(filters)
    rest = [filters.text] if filters.text else []
    return tuple(
        Chip(label=term, without=" ".join([*terms[:i], *terms[i + 1 :], *rest]))
        for i, term in enumerate(terms)
    )


def named_states(*, names: tuple[str, ...]) -> States:
    """Return the states that names of the query box mean; none of them: what is live.

    Raises FilterError for another name.
    """
    return states_of(filters=Filters(**_read_states(names)))


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
    on = tuple(name for name, field in FLAGS.items() if getattr(filters, field))
    off = tuple(name for name, field in FLAGS.items() if getattr(filters, field) is False)
    if filters.status == (Status.ACTIVE.value,) and not filters.stale and not off:
        return States(all_of=on)
    return _states_with_ended(filters, on, off)


def _states_with_ended(filters: Filters, on: tuple[str, ...], off: tuple[str, ...]) -> States:
    """Return the states of a list that does not show what is active and nothing else."""
    ends = tuple(end for end in ENDED if end in filters.status)
    if Status.ACTIVE.value not in filters.status:
        on = (*on, ends[0] if len(ends) == 1 else EITHER_END)
    others = tuple(end for end in ENDED if end not in ends)
    return States(all_of=on, none_of=(*off, *others, Status.DELETED.value))


def _read_states(values: tuple[str, ...]) -> dict[str, Any]:
    for value in values:
        if value not in STATES:
            raise _wrong("is", value, message("Use one of: {names}.", names=tuple(STATES)))
    kept = tuple(dict.fromkeys(value for value in values if value not in FLAGS))
    status = ALL if "any" in kept else kept or (Status.ACTIVE.value,)
    return {"status": status, **{FLAGS[value]: True for value in values if value in FLAGS}}


def _read_bound(value: str) -> dict[str, Any]:
    sign, digits = (value[0], value[1:]) if value[:1] in {">", "<"} else (">", value)
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise _wrong("conf", value, "Write conf:>0.7 or conf:<0.4.")
    return {"minimum_confidence" if sign == ">" else "maximum_confidence": number}


def _state_terms(filters: Filters) -> list[str]:
    """Return the term that says which states are shown, none for the usual ones."""
    states = [] if filters.status == (Status.ACTIVE.value,) else list(filters.status)
    if set(filters.status) == set(ALL):
        states = ["any"]
    states += [name for name, field in FLAGS.items() if getattr(filters, field)]
    return [f"is:{','.join(states)}"] if states else []


def _terms(filters: Filters) -> list[str]:
    terms = _state_terms(filters)
    if filters.types:
        terms.append(f"type:{','.join(filters.types)}")
    quoted = [(key, one) for key in LISTS if key != "type" for one in getattr(filters, LISTS[key])]
    quoted += [("by", filters.author)] if filters.author else []
    for key, one in quoted:
        terms.append(f'{key}:"{one}"' if any(map(str.isspace, one)) else f"{key}:{one}")
    bounds = ((">", filters.minimum_confidence), ("<", filters.maximum_confidence))
    terms += [
        f"conf:{sign}{bound!r}".removesuffix(".0") for sign, bound in bounds if bound is not None
    ]
    return terms


def _check_types(values: tuple[str, ...]) -> None:
    """Raise FilterError for a type that is neither of ours nor of a methodology."""
    for one in values:
        if one not in TYPES and not custom_type_rules.is_own(name=one):
            raise _wrong("type", one, "Use a type such as gotcha, decision or fact.")


def _wrong(key: str, value: str, hint: str) -> FilterError:
    term = f"{key}:{value}"
    return FilterError(
        detail=message("{term} is not a filter.", term=term),
        hint=hint,
        errors=(FieldError(pointer="/q", detail=term, code="wrong_filter"),),
    )
