"""What a module's sums show as numbered facts, and a model's drafts of them, checked one by one.

Facts stand between two marks that nobody can have known. A draft is taken only where it says what
the facts that it names say: no file, number or name that they have not, their negations, and most
of its words. A draft of a type with a payload has the payload of such a fact. Everything else is
dropped and counted: nothing is guessed from a broken answer.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from memory.extraction.prompts.schemas import SYNTHESIZED
from memory.intake.attributes import PAYLOADS
from memory.observer import detections, phrasing, syntheses
from memory.observer.signals import error_retry
from memory.observer.statistics import EdgeRow, ErrorRow, FileRow
from memory.observer.syntheses import DRAFTS_MOST, Draft, Summary
from memory.taxonomy import MemoryType

FACTS_MOST: Final = 30  # of a module, the strongest; ours
KIND_MOST: Final = 12  # of files, edges or errors, those of most sessions; ours
CITED_MOST: Final = 4  # facts that a draft rests on, ours
SESSIONS_LEAST: Final = 2  # of what is told as a fact, ours
LONGEST_FACT: Final = 600  # characters of one in a call, ours
Row = TypeVar("Row", FileRow, EdgeRow, ErrorRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What the sums say in a sentence; `type` and `attributes` where it is a memory by itself."""

    says: str
    files: tuple[str, ...]
    type: MemoryType | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


def facts(*, summary: Summary) -> tuple[Fact, ...]:
    """Return what is told of a module: what templates say of it first, then what was counted."""
    found = (
        *(_drafted(one) for one in syntheses.of_module(summary=summary)),
        *(_error(one) for one in _strongest(summary.errors)),
        *(_edge(one) for one in _strongest(summary.edges)),
        *(_file(one, summary.module.sessions) for one in _strongest(summary.files)),
    )
    return found[:FACTS_MOST]


def written(*, module: str, told: tuple[Fact, ...], nonce: str, clean: Callable[[str], str]) -> str:
    """Return the facts between their marks; `clean` takes secrets out."""
    head = {"module": module or "the project"}
    lines = (
        f"[fact {number}]\n{_line(_body(fact), nonce, clean)}"
        for number, fact in enumerate(told, 1)
    )
    return "\n".join((f"<<<{nonce}", _line(head, nonce, clean), *lines, f"{nonce}>>>"))


def read(
    *, data: Mapping[str, Any], told: tuple[Fact, ...]
) -> tuple[tuple[Draft, ...], Counter[str]]:
    """Return the drafts that hold, at most five, and how many were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[str, Draft] = {}
    for entry in data["syntheses"]:
        checked = _checked(entry, told)
        if isinstance(checked, str):
            dropped[checked] += 1
        elif checked.content in found:
            dropped["draft_twice"] += 1
        elif len(found) == DRAFTS_MOST:
            dropped["over_bound"] += 1
        else:
            found[checked.content] = checked
    return tuple(found.values()), dropped


def _drafted(draft: Draft) -> Fact:
    return Fact(says=draft.content, files=draft.files, type=draft.type, attributes=draft.attributes)


def _strongest(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    often = [one for one in rows if one.sessions >= SESSIONS_LEAST]
    return tuple(sorted(often, key=lambda one: (-one.sessions, str(one)))[:KIND_MOST])


def _file(row: FileRow, sessions: int) -> Fact:
    changed = f" and changed {row.edits} times" if row.edits else ""
    says = f"{row.path} was touched in {row.sessions} of {sessions} sessions{changed}."
    return Fact(says=says, files=(row.path,))


def _edge(row: EdgeRow) -> Fact:
    says = f"{row.first} and {row.second} were worked on together in {row.sessions} sessions."
    return Fact(says=says, files=(row.first, row.second))


def _error(row: ErrorRow) -> Fact:
    way = syntheses.usual_way(error=row)
    helped = f"; it went through {way}" if way else f"; {row.resolved} times it went through"
    return Fact(
        says=f"“{row.message}” came up in {row.sessions} sessions{helped}.",
        files=error_retry.changed(how=way),
    )


def _body(fact: Fact) -> dict[str, object]:
    type = {} if fact.type is None else {"type": fact.type.value}
    return {**type, "files": fact.files, "says": fact.says}


def _line(body: Mapping[str, object], nonce: str, clean: Callable[[str], str]) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return clean(text.replace(nonce, ""))[:LONGEST_FACT]


def _checked(entry: Any, told: tuple[Fact, ...]) -> Draft | str:
    """Return a draft, or why it is dropped."""
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        return "draft_shape"
    cited = _cited(entry.get("facts"), told)
    if not cited:
        return "draft_facts"
    if entry.get("type") not in SYNTHESIZED:
        return "draft_type"
    type, text = MemoryType(entry["type"]), " ".join(entry["text"].split())
    payload = next((one.attributes for one in cited if one.type is type), {})
    if type in PAYLOADS and not payload:
        return "draft_type"
    files = tuple(dict.fromkeys(path for one in cited for path in one.files))
    said = " ".join((*(one.says for one in cited), *files))
    content = Draft(
        type=type, content=text, files=files[: detections.FILES_MOST], attributes=payload
    )
    return phrasing.fault(text=text, said=said) or content


def _cited(numbers: Any, told: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the facts of an answer's numbers; none where one of them is no fact's."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= CITED_MOST:
        return ()
    known = range(1, len(told) + 1)
    is_right = all(type(one) is int and one in known for one in numbers)
    return tuple(told[one - 1] for one in dict.fromkeys(numbers)) if is_right else ()
