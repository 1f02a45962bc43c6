"""Why a hit stands where it stands, as the list draws it: its score as a bar of parts.

The explanation of a search comes as plain values (`memory.search.presentation`); here it becomes
one value that a line shows. Every drawing says in words, too, what it draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from frontend.labels import memory_labels

DIGITS: Final = 2  # of a relevance
DIGITS_OF_PARTS: Final = 3  # so that parts shown still sum to the score
REASON: Final = (
    '<div class="why"><span class="flex"><svg class="score" width="120" height="8" role="img"'
    ' aria-label="{label}">{bars}</svg><span>{label}</span></span>'
    '<span class="flex"><svg class="score" width="120" height="8" role="img"'
    ' aria-label="{relevant}"><rect class="track" width="100%" height="8"/>'
    '<rect class="{verdict}" width="{relevance}%" height="8"/>'
    '<rect class="tick" x="{threshold}%" width="2" height="8"/></svg><span>{relevant}</span></span>'
    "</div>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a score, and the rank from 1 on the path that gave it, where it is a path's."""

    name: str
    value: float
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The parts of a score, which sum to it; how relevant the hit is, and how relevant it must be.

    `multiplied` are in every part already; `rank_before` is that before a second model moved it.
    """

    parts: tuple[Part, ...]
    score: float
    multiplied: Mapping[str, float]
    rank_before: int | None
    relevance: float
    threshold: float


def of(*, explain: Mapping[str, Any], threshold: float) -> Reason:
    """Read the explanation of a hit; `threshold` is the one that is usual where it was asked."""
    ranks = {name: int(path["rank"]) for name, path in explain["paths"].items()}
    parts = tuple(
        Part(name=name, value=float(value), rank=ranks.get(name))
        for name, value in explain["parts"].items()
    )
    moved = explain["rerank"]
    return Reason(
        parts=parts,
        score=float(explain["score"]),
        multiplied={name: value for name, value in explain["multipliers"].items() if value != 1},
        rank_before=None if moved is None else int(moved["rank_before"]),
        relevance=float(explain["relevance"]["value"]),
        threshold=threshold,
    )


def draw(*, reason: Reason) -> SafeString:
    """Draw the parts as one bar, and the relevance with a tick where it must begin."""
    said = _said(reason)
    return format_html(
        REASON,
        label=said,
        bars=_bars(reason),
        verdict="enough" if reason.relevance >= reason.threshold else "short",
        relevance=round(100 * reason.relevance),
        threshold=round(100 * reason.threshold),
        relevant=gettext("relevance %(value)s, shown from %(threshold)s on")
        % {"value": _number(reason.relevance), "threshold": _number(reason.threshold)},
    )


def _bars(reason: Reason) -> SafeString:
    """Return a bar a part, end to end; 1 is the whole width."""
    bars, start = [], 0.0
    for part in reason.parts:
        width = max(0.0, min(100 * part.value, 100 - start))
        bars.append((part.name, round(start, 1), round(width, 1)))
        start += width
    return format_html_join("", '<rect class="part-{}" x="{}%" width="{}%" height="8"/>', bars)


def _said(reason: Reason) -> SafeString:
    sum_ = format_html_join(
        " + ",
        "{} {}{}",
        (
            (
                memory_labels.name_of(memory_labels.SCORE_PARTS, part.name),
                _part(part.value),
                _rank(part),
            )
            for part in reason.parts
        ),
    )
    return format_html("{} = {}{}{}", _part(reason.score), sum_, _times(reason), _move(reason))


def _rank(part: Part) -> str:
    return "" if part.rank is None else " (" + gettext("rank %(n)s") % {"n": part.rank} + ")"


def _times(reason: Reason) -> str:
    named = (
        f"{memory_labels.name_of(memory_labels.MULTIPLIERS, name)} · {_number(value)}"
        for name, value in reason.multiplied.items()
    )
    return "".join(f", {text}" for text in named)


def _move(reason: Reason) -> str:
    if reason.rank_before is None:
        return ""
    return ", " + gettext("before the second look: place %(n)s") % {"n": reason.rank_before}


def _part(value: float) -> str:
    return _digits(value, DIGITS_OF_PARTS)


def _number(value: float) -> str:
    return _digits(value, DIGITS)


def _digits(value: float, places: int) -> str:
    """Write a number rounded; `number_format` alone cuts what is beyond the last place."""
    return str(number_format(round(value, places), places))
