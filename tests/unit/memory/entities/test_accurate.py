"""What a statistical reader marks becomes names, or is not believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import accurate, names
from memory.entities.accurate import ENOUGH, SOFTWARE
from memory.entities.names import Name
from memory.entities.rules import CANONICAL
from memory.providers.contracts import ReadSpan


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
def test_a_mark_that_looks_like_a_name_is_one(
    label: str, words: str, found: tuple[str, str, str]
) -> None:
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
def test_whatever_is_marked_gives_names_that_may_be_stored(
    text: str, marks: list[tuple[str, int, int]]
) -> None:
    prose = accurate.prose_of(content=text)
    spans = [ReadSpan(label=label, start=start, end=end) for label, start, end in marks]

    found = accurate.names_of(prose=prose, read=spans)

    assert all(isinstance(one, Name) and one.key and one.written for one in found)
    assert len({(one.type, one.key) for one in found}) == len(found)
    assert all(len(one.key) <= names.LONGEST >= len(one.written) for one in found)
