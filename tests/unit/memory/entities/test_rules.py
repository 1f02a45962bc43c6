"""Fast entities: one pattern a kind, overlaps settled."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind, EntitySpan


def _found(text: str) -> list[tuple[str, str]]:
    return [(span.kind.value, span.text) for span in entities_rules.find_entities(text=text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask @maria about it", [("mention", "@maria")]),
        ("Mail ops@example.com.", [("email", "ops@example.com")]),
        ("See https://example.com/a?b=1, then", [("url", "https://example.com/a?b=1")]),
        ("Since 2026-03-01 it", [("date", "2026-03-01")]),
        ("On March 3, 2026 we", [("date", "March 3, 2026")]),
        ("Le 12 août 2026 on", [("date", "12 août 2026")]),
        ("Edit src/auth/token.py first", [("path", "src/auth/token.py")]),
        ("Edit config.yaml first", [("path", "config.yaml")]),
        ("Call `mint` there", [("code", "mint")]),
        ("Call getUser there", [("code", "getUser")]),
        ("Set max_retries there", [("code", "max_retries")]),
        ("The TokenStore knows", [("code", "TokenStore")]),
        ("Run cache.clear() now", [("code", "cache.clear()")]),
        ("It raises E1234 then", [("code", "E1234")]),
        ("Use v2.1.0 or 1.2.3", [("version", "v2.1.0"), ("version", "1.2.3")]),
        ("Plain words, nothing else.", []),
    ],
)
def test_each_kind_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert _found(text) == expected


def test_a_path_wins_over_the_names_inside_it_and_an_npm_scope_is_no_mention() -> None:
    assert _found("In src/authFlow/token_store.py") == [("path", "src/authFlow/token_store.py")]
    assert ("mention", "@scope") not in _found("Install @scope/package")


def _span(start: int, end: int, confidence: float) -> EntitySpan:
    return EntitySpan(
        kind=EntityKind.CODE, text="x" * (end - start), start=start, end=end, confidence=confidence
    )


def test_the_most_confident_wins_then_the_longest() -> None:
    spans = (_span(0, 9, 0.5), _span(2, 4, 0.9), _span(5, 7, 0.5), _span(5, 8, 0.5))

    kept = entities_rules.resolve_overlaps(spans=spans)

    assert [(span.start, span.end) for span in kept] == [(2, 4), (5, 8)]


@given(text=st.text(st.sampled_from("aBv_.1230/@#-()`: \n"), max_size=80))
def test_spans_are_disjoint_quote_the_text_and_are_the_same_in_any_script(text: str) -> None:
    spans = entities_rules.find_entities(text=f"{text} ")

    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert spans == entities_rules.find_entities(text=f"{text} é")


def test_every_kind_has_a_type() -> None:
    assert set(entities_rules.ENTITY_TYPES) == set(EntityKind)
