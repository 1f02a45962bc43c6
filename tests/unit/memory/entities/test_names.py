"""Names in texts: which spans are found, which spellings are one, and names said to be one."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import names, queries
from memory.entities import rules as entities_rules
from memory.entities.rules import ALIASES, CANONICAL, EntityKind, EntitySpan, EntityType


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


def _keys(text: str) -> list[str]:
    return [one.key for one in names.names_of(spans=entities_rules.find_entities(text=text))]


def _asked(text: str) -> tuple[str, ...]:
    return tuple(names.keys_asked(text=text, spans=entities_rules.find_entities(text=text)))


def test_spellings_of_a_code_name_have_one_key_and_the_first_is_told() -> None:
    for written in ("AuthService", "authService", "auth-service", "auth_services", "AUTH_SERVICE",
                    "`AuthService`", "auth_service()"):  # fmt: skip
        spans = entities_rules.find_entities(text=f"See {written} there, or auth_service")
        (found,) = names.names_of(spans=spans)
        assert (found.type, found.key) == (EntityType.SYSTEM, "auth service"), written
        assert found.written == written.strip("`"), written


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("We run Postgres", "postgresql"),
        ("We run PostgreSQL", "postgresql"),
        ("We run k8s", "kubernetes"),
        ("We run OAuth2", "oauth"),
        ("On March 3, 2026 it broke", "2026-03-03"),
        ("On 3 March 2026 it broke", "2026-03-03"),
        ("At 2026-03-03T10:00:00Z it broke", "2026-03-03"),
        ("See https://www.Example.com/a/ there", "example.com/a"),
        ("Since v1.20.3 it works", "1.20.3"),
        ("Edit ./src/Auth/token.py first", "src/auth/token.py"),
        ("Mail Ops@Example.com today", "ops@example.com"),
        ("Ask @Maria-Lopez today", "maria lopez"),
        ("It is the billing-gateway again", "billing gateway"),
        ("catch ECONNREFUSED there", "econnrefused"),
        ("The board is called “Shop Final” é", "shop final"),
    ],
)
def test_each_kind_is_read_in_its_own_way(written: str, key: str) -> None:
    assert _keys(written) == [key]


def test_what_names_nothing_is_left_out() -> None:
    for plain in ("Returns `None` or `true`", "Ask the same service again", "Each service is slow"):
        assert _keys(plain) == [], plain
    assert _keys("`x`") == []
    for word in ("access", "status", "analysis", "alias", "css", "os"):  # no plurals
        assert names.word_key(text=word) == word


def test_a_question_names_what_has_no_sign_of_a_name_by_the_words_of_a_text() -> None:
    assert {"auth service", "kubernetes"} <= set(_asked("why does the auth service fail on k8s?"))
    assert _asked("what is it, and why is that so?") == ()
    assert _asked("how does billing use TokenStore")[0] == "token store"  # what has one comes first
    for written in ("AuthService", "postgres", "Ops@Example.com", "v1.20.3", "3 March 2026"):
        assert set(_keys(f"So {written} it is")) <= set(_asked(f"tell of {written} please"))


@given(text=st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    asked = _asked(text)

    assert len(asked) <= names.MOST_ASKED
    assert all(0 < len(key) <= names.LONGEST for key in asked)
    assert all(1 < len(key) <= names.LONGEST for key in _keys(text))


@given(kind=st.sampled_from(EntityKind), text=st.text(st.sampled_from("aB1_-. /:@#v"), max_size=30))
def test_no_kind_stumbles_over_a_text(kind: EntityKind, text: str) -> None:
    assert len(names.key_of(kind=kind, text=text)) <= names.LONGEST


def test_no_tool_is_also_called_like_another() -> None:
    every = [alias for name, others in ALIASES.items() for alias in (name, *others)]

    assert len(every) == len(set(every)) == len(CANONICAL)
    assert set(entities_rules.ENTITY_TYPES) == set(EntityKind)


def test_a_reader_that_reads_otherwise_has_another_version() -> None:
    tables = (entities_rules._PATTERNS, entities_rules.ENTITY_TYPES, ALIASES, names._BREAKS.pattern)
    words = (names._NO_PLURAL, sorted(names._SAYS_NOTHING), sorted(names._SMALL))

    digest = hashlib.sha256(repr((tables, words)).encode()).hexdigest()[:12]

    assert (names.VERSION, digest) == (3, "1064d3c7533e")


A, B, C, D = (5, "auth"), (5, "auth-svc"), (1, "maria"), (5, "redis")
NAMES = st.sampled_from([A, B, C, D])


def test_pairs_that_share_a_name_are_one_group_and_a_later_pair_joins_two() -> None:
    numbers = queries.groups(pairs=[(A, B), (C, D), (B, C)])

    assert len(set(numbers.values())) == 1
    pair = queries.groups(pairs=[(A, B)])
    assert queries.merged_names(names=[D], numbers=pair) == {D}
    assert queries.merged_names(names=[A], numbers=pair) == {A, B}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=6))
def test_groups_do_not_ask_for_the_order_of_pairs(
    pairs: list[tuple[queries.Name, queries.Name]],
) -> None:
    def shape(numbers: dict[queries.Name, int]) -> set[frozenset[queries.Name]]:
        return {queries.merged_names(names=[name], numbers=numbers) for name in numbers}

    backwards = queries.groups(pairs=list(reversed(pairs)))
    assert shape(queries.groups(pairs=pairs)) == shape(backwards)
