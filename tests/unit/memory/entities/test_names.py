"""Names in texts: which spans are found, and which spellings are one or close."""

import csv
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import accurate, close_names, names, queries
from memory.entities import rules as entities_rules
from memory.entities.accurate import ENOUGH, SOFTWARE
from memory.entities.close_names import MOST_ALIKE, Known, Reason
from memory.entities.names import Name
from memory.entities.rules import ALIASES, CANONICAL, EntityKind, EntitySpan, EntityType
from memory.providers.contracts import ReadSpan
from tests import support


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
def test_groups_need_no_order_of_pairs(pairs: list[tuple[queries.Name, queries.Name]]) -> None:
    def shape(numbers: dict[queries.Name, int]) -> set[frozenset[queries.Name]]:
        return {queries.merged_names(names=[name], numbers=numbers) for name in numbers}

    backwards = queries.groups(pairs=list(reversed(pairs)))
    assert shape(queries.groups(pairs=pairs)) == shape(backwards)


def marked(text: str, **marks: str) -> tuple[tuple[str, str, str], ...]:
    """Return type, key and spelling of the names in a text, of which a reader marks these words."""
    spans = tuple(
        ReadSpan(label=label, start=text.index(words), end=text.index(words) + len(words))
        for label, words in marks.items()
    )
    found = accurate.names_of(prose=text, read=spans)
    return tuple((one.type.value, one.key, one.written) for one in found)


@pytest.mark.parametrize(
    ("label", "words", "found"),
    [
        ("PERSON", "Priya Raman", ("person", "priya raman", "Priya Raman")),
        ("PERSON", "Liam O'Connor", ("person", "liam o connor", "Liam O'Connor")),
        ("PERSON", "Wayne Medical", ("organization", "wayne medical", "Wayne Medical")),
        ("PERSON", "Ruby Chen", ("person", "ruby chen", "Ruby Chen")),
        ("ORG", "the Bank of Norway", ("organization", "bank of norway", "Bank of Norway")),
        ("ORG", "Globex's", ("organization", "globex", "Globex")),
        ("GPE", "Zürich", ("location", "zürich", "Zürich")),
        ("LOC", "Lake Geneva", ("location", "lake geneva", "Lake Geneva")),
        ("DATE", "June 2026", ("other", "june 2026", "June 2026")),
        ("DATE", "Q3 2026", ("other", "q3 2026", "Q3 2026")),
    ],
)  # fmt: skip
def test_a_mark_like_a_name_is_one(label: str, words: str, found: tuple[str, str, str]) -> None:
    assert marked(f"It was {words} again, as always", **{label: words}) == (found,)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("PERSON", "flake8"), ("PERSON", "Redis"), ("PERSON", "Jenkins"), ("ORG", "Vue 3"),
        ("GPE", "Cypress"), ("PERSON", "Spring Boot"), ("ORG", "API"), ("ORG", "TLS"),
        ("ORG", "the YAML"), ("PERSON", "eu-west-1"), ("GPE", "node_modules"), ("PERSON", "retry"),
        ("ORG", "Redis Cluster"), ("DATE", "yesterday"), ("DATE", "two weeks"), ("DATE", "2024"),
        ("DATE", "MySQL 8 to PostgreSQL 16"), ("CARDINAL", "Twelve"), ("PRODUCT", "Globex"),
        ("ORG", "A B C D E F"), ("PERSON", ""),
        ("ORG", "ETag"), ("ORG", "MiB"), ("PERSON", "JSON Schema"), ("PERSON", "Swagger UI"),
        ("ORG", "Settings"), ("PERSON", "Formulas"), ("GPE", "Tokens"), ("ORG", "Markdown"),
    ],
)  # fmt: skip
def test_other_marks_are_not_believed(label: str, words: str) -> None:
    assert marked(f"It was {words} again, as always", **{label: words}) == ()


def test_what_the_patterns_found_wins_and_is_not_told_twice() -> None:
    text = "Mail ops@example.com, then look at AuthService with @maria and Maria."

    assert marked(text, PERSON="AuthService", ORG="example", GPE="Maria") == (
        ("location", "maria", "Maria"),
    )
    assert marked("Ask @Maria, or Maria herself", PERSON="Maria") == ()
    text = "Acme Corp pays; Acme Corp. does; Teach it."
    spans = (
        ReadSpan(label="ORG", start=0, end=9),
        ReadSpan(label="ORG", start=16, end=26),
        ReadSpan(label="ORG", start=33, end=38, is_everyday=True),  # a word of the dictionary
    )
    assert [one.written for one in accurate.names_of(prose=text, read=spans)] == ["Acme Corp"]
    assert not SOFTWARE & set(CANONICAL)
    assert all(name == name.casefold() for name in SOFTWARE)


def test_blocks_of_code_are_not_read() -> None:
    content = "Ask Priya.\n```\nPERSON = 'Marco'\n```\nOr Lena.\n~~~\nOmar"

    prose = accurate.prose_of(content=content)

    assert len(prose) == len(content)
    assert "Priya" in prose
    assert "Lena" in prose
    assert "Marco" not in prose
    assert "Omar" not in prose


def test_a_text_with_two_names_waits_for_no_reader() -> None:
    one = names.names_in(content="AuthService is slow.")
    two = names.names_in(content="AuthService asks k8s.")

    assert accurate.enriched_by(named=()) == 0
    assert accurate.enriched_by(named=one) == 0
    assert accurate.enriched_by(named=two) == ENOUGH


@given(
    st.text(max_size=80),
    st.lists(
        st.tuples(st.sampled_from(sorted(accurate.KINDS)), st.integers(0, 90), st.integers(0, 90)),
        max_size=6,
    ),
)
def test_marks_give_names_that_may_be_stored(text: str, marks: list[tuple[str, int, int]]) -> None:
    prose = accurate.prose_of(content=text)
    spans = [ReadSpan(label=label, start=start, end=end) for label, start, end in marks]

    found = accurate.names_of(prose=prose, read=spans)

    assert all(isinstance(one, Name) and one.key and one.written for one in found)
    assert len({(one.type, one.key) for one in found}) == len(found)
    assert all(len(one.key) <= names.LONGEST >= len(one.written) for one in found)


FILE = Path(support.__file__).with_name("close_names.tsv")
LEAST_PRECISION = 0.95
LEAST_RECALL = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Two names as somebody wrote them down, and whether they are one thing."""

    first: Known
    second: Known
    same: bool

    @property
    def held(self) -> bool:
        """Whether nothing was fitted on it."""
        text = f"{self.first.type} {self.first.key} {self.second.key} {len(self.first.beside)}"
        return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def _labelled() -> tuple[Labelled, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = tuple(csv.DictReader(file, delimiter="\t"))
    return tuple(
        Labelled(
            first=_known(row["first"], row["type"], int(row["beside"])),
            second=_known(row["second"], row["type"], int(row["beside"])),
            same=row["same"] == "1",
        )
        for row in rows
    )


def _known(key: str, type: str = "system", beside: int = 0) -> Known:
    names = frozenset(f"thing {number}" for number in range(beside))
    return Known(type=EntityType(type), key=key, beside=names)


def _compared(first: str, second: str, type: str = "system", beside: int = 0) -> Reason | None:
    return close_names.compare(
        first=_known(first, type, beside), second=_known(second, type, beside)
    )


@pytest.mark.parametrize("held", [False, True], ids=["train", "held"])
def test_pairs_that_people_labelled(held: bool, figure: Callable[[str], None]) -> None:
    every = [one for one in _labelled() if one.held is held]
    said = [one for one in every if close_names.compare(first=one.first, second=one.second)]

    right = sum(one.same for one in said)
    precision, recall = right / len(said), right / sum(one.same for one in every)

    part = "held out" if held else "train"
    figure(f"{part}: {len(every)} pairs, precision {precision:.2f}, recall {recall:.2f}")
    assert precision >= LEAST_PRECISION
    assert recall >= LEAST_RECALL


def test_what_is_certain_is_never_wrong() -> None:
    sure = [
        one.same
        for one in _labelled()
        if close_names.compare(first=one.first, second=one.second) is Reason.JOINED
    ]

    assert len(sure) >= 10
    assert all(sure)
    project = _known("authgate", "project")  # things of two kinds are never one
    assert close_names.compare(first=_known("auth gate"), second=project) is None


@pytest.mark.parametrize(
    ("first", "second", "type", "beside", "reason"),
    [
        ("auth gate", "authgate", "system", 0, Reason.JOINED),
        ("connection broker", "conection broker", "system", 0, Reason.MISSPELLED),
        ("receiver", "reciever", "system", 0, Reason.MISSPELLED),
        ("adapter", "adaptor", "system", 0, Reason.MISSPELLED),
        ("a lovelace", "ada lovelace", "person", 0, Reason.INITIAL),
        ("globex", "globex corp", "organization", 0, Reason.LONGER),
        ("checkout", "checkout service", "system", 2, Reason.LONGER),
        ("checkout", "checkout service", "system", 1, None),
        ("upload worker", "unload worker", "system", 9, None),
        ("billing 1", "billing 2", "system", 9, None),
        ("my sql", "mssql", "system", 9, None),
        ("2026-01-02", "2026-01-03", "other", 9, None),
        ("a@x.test", "b@x.test", "email", 9, None),
    ],
)
def test_reasons(first: str, second: str, type: str, beside: int, reason: Reason | None) -> None:
    assert _compared(first, second, type, beside) is reason


@given(
    first=st.text(alphabet="abcdefgh 1/", min_size=1, max_size=16),
    second=st.text(alphabet="abcdefgh 1/", min_size=1, max_size=16),
)
def test_order_does_not_matter(first: str, second: str) -> None:
    assert _compared(first, second) is _compared(second, first)


def test_sure_pairs_are_found_among_many() -> None:
    names = [_known(f"thing{number:04} of many") for number in range(3_000)]
    mine = [_known("auth gate"), _known("conection broker"), _known("connection broker")]

    found = close_names.sure_pairs(names=(*mine, _known("authgate"), *names))

    assert found == ((_known("auth gate").name, _known("authgate").name),)
    assert len(names) > MOST_ALIKE
