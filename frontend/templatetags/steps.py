"""Words for what stands in the steps of a session (spec 9.2)."""

from collections.abc import Mapping
from typing import Any

from django import template

from frontend import words, words_of_sessions

register = template.Library()


@register.filter
def event_kind_name(kind: str) -> words.Name:
    """Return what an event is, in words."""
    return words_of_sessions.EVENT_KINDS.get(kind, kind)


@register.filter
def point_name(point: str) -> words.Name:
    """Return at which point a memory was given, in words."""
    return words_of_sessions.INJECTION_POINTS.get(point, point)


@register.filter
def mark_name(mark: str) -> words.Name:
    """Return what a column of the ribbon's table counts, in words."""
    return words_of_sessions.RIBBON_MARKS.get(mark, mark)


@register.filter
def outcome_name(outcome: str) -> words.Name:
    """Return how a session ended, in words; empty where nobody said."""
    return words_of_sessions.OUTCOMES.get(outcome, "")


@register.filter
def remembered(result: Mapping[str, Any]) -> int:
    """Return how many memories came of a session's turns and of what its agent did."""
    return int(result.get("added", 0)) + int(result.get("observed_added", 0))
