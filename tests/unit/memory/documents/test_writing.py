"""What is written can be read again as it was; every column of a memory is decided."""

import io
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.documents import file_formats
from memory.documents.actions import export
from memory.documents.actions.export import ExportFormat
from memory.documents.file_formats import FIELDS, FieldRule
from memory.records.models import Memory
from memory.taxonomy import MemoryType
from tests.support import foreign_files

LOSSLESS = (ExportFormat.JSON, ExportFormat.LINES, ExportFormat.MARKDOWN)
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=200)
MOMENT = st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(FIELDS, TEXT),
    **dict.fromkeys(file_formats.TIMES, st.none() | MOMENT),
    **dict.fromkeys(
        ("tags", "related_files", "related_modules", "provenance_sessions"),
        st.lists(TEXT, max_size=4),
    ),
    **dict.fromkeys(("confidence", "importance", "surprise", "confidence_floor"), st.floats(0, 1)),
    **dict.fromkeys(("pinned", "needs_review", "user_verified"), st.booleans()),
    **dict.fromkeys(
        ("version", "confirmations", "access_count", "authority", "governance"), st.integers(0, 9)
    ),
    "attributes": st.dictionaries(
        TEXT, TEXT | st.floats(allow_nan=False, allow_infinity=False), max_size=3
    ),
    "work_unit": st.dictionaries(TEXT, TEXT, max_size=2),
    "type": st.sampled_from([one.value for one in MemoryType]),
    "content": TEXT.filter(str.strip),
    "source_line": st.none() | st.integers(0, 9_999),
    "decay_half_life_days": st.none() | st.floats(1, 400),
}
RECORD = st.fixed_dictionaries({
    **{name: VALUES[name] for name, (fate, _) in FIELDS.items() if fate is not FieldRule.LEFT},
    file_formats.VERSIONS: st.lists(
        st.fixed_dictionaries({"number": st.integers(1), "content": TEXT})
    ),
    file_formats.LINKS: st.just([]),
    file_formats.TOPICS: st.lists(TEXT, max_size=1),
})  # fmt: skip


def record(**given: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(FIELDS),
        "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a80",
        "type": "gotcha",
        "content": "The gate of the mill opens at nine.",
        "citation": "The gate of the mill opens at nine.",
        "tags": ["mill"],
        "related_files": ["gate.py"],
        "related_modules": [],
        "status": "active",
        "needs_review": False,
        "taint_reason": "",
        "pinned": False,
        "governance": 3,
        "importance": 0.5,
        "confidence": 0.8,
        file_formats.VERSIONS: [],
        file_formats.LINKS: [],
        file_formats.TOPICS: [],
        **given,
    }


def written(format: ExportFormat, *records: dict[str, Any], budget_tokens: int = 1) -> bytes:
    return b"".join(export.WRITERS[format][1](records, budget_tokens))


def claude(*records: dict[str, Any], budget_tokens: int = 4_000) -> str:
    return written(ExportFormat.CLAUDE, *records, budget_tokens=budget_tokens).decode()


@pytest.mark.goal(name="G23")
def test_every_column_of_a_memory_is_decided() -> None:
    columns = {field.name for field in Memory._meta.concrete_fields} | {
        "access_count",
        "last_accessed_at",
    }
    named = {name.removesuffix("_id") if name == "project_id" else name for name in columns}

    assert named == set(FIELDS)
    assert all(why for fate, why in FIELDS.values() if fate is not FieldRule.KEPT)


@pytest.mark.parametrize("format", LOSSLESS)
@given(records=st.lists(RECORD, min_size=1, max_size=3))
def test_what_is_written_is_read_as_it_was(
    format: ExportFormat, records: list[dict[str, Any]]
) -> None:
    named = [{**one, "id": f"id-{number}"} for number, one in enumerate(records)]

    data = written(format, *named)
    found = foreign_files.read(name="export", data=data)

    assert found.faults == ()
    back = {one.record["id"]: dict(one.record) for one in found.candidates}
    assert back == {one["id"]: one for one in named}


def test_a_table_computes_nothing() -> None:
    one = record(content='=HYPERLINK("http://x")', tags=["+1"])
    text = written(ExportFormat.CSV, one).decode()

    assert ",\"'=HYPERLINK" in text
    assert ",'+1," in text


def test_a_folder_has_a_note_a_memory_and_is_the_same_each_time() -> None:
    data, again = (
        written(ExportFormat.MARKDOWN, record(citation="../../Gate: of *mill*")) for _ in range(2)
    )

    (name,) = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert name == "gotcha/gate-of-mill-01936f2e-7a10-7c3e-9a53-2f8f2f3c1a80.md"
    assert data == again


def test_claude_md_tells_what_holds_by_its_kind() -> None:
    text = claude(
        record(type="decision", content="Carts lock by key.", id="a"),
        record(content="The gate jams in frost.", id="b"),
        record(content="It waits.", needs_review=True, id="c"),
        record(content="It is gone.", status="archived", id="d"),
        record(content="It is stale.", stale_at="2026-11-20T12:00:00+00:00", id="e"),
    )

    assert text.index("## Decisions") < text.index("Carts lock by key.") < text.index("## Gotchas")
    assert "- The gate jams in frost. (gate.py)" in text
    assert not any(said in text for said in ("waits", "gone", "stale"))


def test_claude_md_keeps_to_its_budget_and_to_what_matters() -> None:
    many = [
        record(id=str(n), content=f"Gate {n} opens at nine.", importance=n / 100)
        for n in range(100)
    ]

    text = claude(
        *many,
        record(id="p", pinned=True, importance=0.0, content="Never lock gate 5."),
        budget_tokens=200,
    )

    assert len(text) < 1_200
    assert "Never lock gate 5." in text
    assert "Gate 99 " in text
    assert "Gate 1 " not in text
