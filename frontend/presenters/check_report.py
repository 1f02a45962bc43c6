"""A check as its page shows it: findings by level, each with its place, reason and advice (11.8).

The words that a memory and the work share are marked in the memory and in the quoted step. What is
quoted is the text without its secrets, as it was checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.safestring import SafeString

from frontend.labels import check_labels
from frontend.labels.check_labels import Said
from frontend.labels.memory_labels import Name, name_of
from frontend.presenters import html
from memory.checks import work
from memory.checks.actions import PAUSED, Check, CheckFinding
from memory.checks.findings import Verdict
from memory.checks.queries import FilePair
from memory.checks.work import PartLocation
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView

LONGEST_QUOTE: Final = 240  # characters of a step, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A place of the work that a memory meets; `quote` is the step, empty for lines of a file."""

    place: PartLocation
    quote: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A memory that speaks up: its words, where it meets the work, why, and what to do."""

    memory: MemoryView
    statement: SafeString
    sides: tuple[Contradiction, ...]
    where: tuple[Where, ...]
    why: Name
    advice: Name
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What was found of one level."""

    level: str
    name: Name
    color: str
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said of the work as a whole, and on what it rests."""

    said: Said
    is_diff: bool
    groups: tuple[Group, ...]
    ties: tuple[FilePair, ...]
    parts: int
    files: int
    left_out: int
    without: tuple[Name, ...]


def answer(*, check: Check, text: str, is_diff: bool) -> Answer:
    """Return a check as its page shows it; `text` is what was checked, without its secrets."""
    steps = {} if is_diff else {one.number: one.text for one in work.read_plan(text=text)[0]}
    return Answer(
        said=_said(check),
        is_diff=is_diff,
        groups=tuple(
            Group(
                level=level.value,
                name=name,
                color=color,
                found=tuple(_found(one, steps) for one in check.findings if one.level is level),
            )
            for level, (name, color) in check_labels.LEVELS.items()
            if any(one.level is level for one in check.findings)
        ),
        ties=check.ties,
        parts=check.parts,
        files=check.files,
        left_out=check.left_out,
        without=tuple(name_of(check_labels.LEFT_OUT, one) for one in check.degraded),
    )


def _said(check: Check) -> Said:
    if PAUSED in check.degraded:
        return check_labels.PAUSED
    if check.verdict is Verdict.STOP:
        return check_labels.STOP
    if check.verdict is Verdict.CAUTION:
        return check_labels.CAUTION
    is_known = bool(check.findings or check.ties)
    return check_labels.KNOWN if is_known else check_labels.UNKNOWN


def _found(told: CheckFinding, steps: Mapping[int, str]) -> Found:
    matched = frozenset(told.matched)
    why, advice = check_labels.REASONS[told.why]
    return Found(
        memory=told.memory,
        statement=html.met(text=told.memory.content, stems=matched),
        sides=told.sides,
        where=tuple(
            Where(
                place=place,
                quote=html.met(text=_cut(steps.get(place.step, "")), stems=matched),
            )
            for place in told.places
        ),
        why=why,
        advice=advice,
        missing=told.missing,
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
