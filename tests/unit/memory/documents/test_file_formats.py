"""Every format is told by its content; what is written is read as it was."""

import io
import json
import sqlite3
import stat
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.documents import file_formats, markdown_notes, memory_v3, reading
from memory.documents.actions import export
from memory.documents.actions.export import ExportFormat
from memory.documents.file_formats import (
    FIELDS,
    MOST_CANDIDATES,
    DocumentReading,
    FieldRule,
    FileFormat,
)
from memory.records.models import Memory
from memory.records.queries.views import OF_USAGE
from memory.taxonomy import MemoryType
from tests.support import foreign_files
from tests.support.foreign_files import database, zipped

RULES = """# Shop

## Testing
- Run `make test` before every push, since the hooks do not.
- Never mock the ledger because its rounding is what we test.
"""
OBSIDIAN = """---
tags: [billing, europe]
aliases: [Tax note]
---
# Taxes

Invoices to France carry the rate of the buyer, see [[Rates|the table of rates]] #vat.
"""
BASIC = """---
title: Coffee brewing
type: note
permalink: coffee-brewing
tags:
- brewing
---
# Coffee brewing

## Observations
- [method] Pour over brings out floral notes better than a press #pour-over (light roasts)
- [decision] We grind fresh for every single cup we serve here
- [ ] an open task is no observation

## Relations
- depends_on [[Water temperature]]
- pairs well with [[Dark chocolate]]
"""

MEM0 = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
            "memory": "Likes to be asked before a migration runs",
            "user_id": "alex",
            "metadata": {"category": "work", "tags": ["db"]},
            "categories": ["preferences"],
            "created_at": "2026-07-26T10:29:36.630547-07:00",
        }
    ]
}

V3 = (
    (1, "Deploys happen.", "decision", '["ops"]', 0.9, "2026-01-02T03:04:05", 0, "[2]"),
    (2, "Rollbacks take four minutes.", "nonsense", "broken", 7.0, "when?", 0, "{}"),
    (3, "Gone.", "fact", "[]", 0.5, None, 1, "[]"),
    (4, None, "fact", "[]", 0.5, None, 0, "[]"),
)


def only(name: str, data: bytes | str, format: FileFormat) -> DocumentReading:
    """Read one file, which is found to be of this format."""
    found = foreign_files.read(name=name, data=data.encode() if isinstance(data, str) else data)
    assert [file.format for file in found.files] == [format]
    return found


def faults(found: DocumentReading) -> list[tuple[str, int | None]]:
    return [(fault.file, fault.line) for fault in found.faults]


def test_rules_become_statements_with_their_lines_and_obsidian_gives_tags_and_links() -> None:
    rules = only("CLAUDE.md", RULES, FileFormat.MARKDOWN).candidates
    told = [(each.line, each.source_uri) for each in rules]
    assert told == [(4, "CLAUDE.md"), (5, "CLAUDE.md")]
    assert len({each.source_hash for each in rules}) == 1
    (note,) = only("vault/Taxes.md", OBSIDIAN, FileFormat.OBSIDIAN).candidates

    assert note.tags == ("billing", "europe", "vat")
    assert note.links == (("see_also", "rates"),)
    assert {"taxes", "tax note"} <= set(note.keys)
    assert "the table of rates" in note.content
    assert "[[" not in note.content
    assert note.line == 7


def test_basic_memory_gives_observations_and_relations() -> None:
    method, decision = only("coffee.md", BASIC, FileFormat.BASIC_MEMORY).candidates[:2]

    assert (decision.type, method.type) == ("decision", "pattern")
    assert method.tags == ("brewing", "pour-over", "method")
    assert method.content.endswith("(light roasts)")
    assert method.line == 11
    links = (("depends_on", "water temperature"), ("see_also", "dark chocolate"))
    assert method.links == links


def test_pages_of_mem0_are_told_from_other_json() -> None:
    (memory,) = only("page.json", json.dumps(MEM0), FileFormat.MEM0).candidates

    assert memory.external_id == "mem0:892db2ae-06d9-49e5-8b3e-585ef9b85b8e"
    assert memory.tags == ("preferences", "db")
    assert memory.event_at is not None


def test_a_broken_line_is_told_and_the_rest_goes_on() -> None:
    rows = ('{"content": "It opens."}', '{"content":', "[1]", '{"x": 1}', "", '{"text": "No."}')

    found = only("rows.jsonl", "\n".join(rows), FileFormat.JSON_LINES)

    assert [each.line for each in found.candidates] == [1, 6]
    assert faults(found) == [("rows.jsonl", 2), ("rows.jsonl", 3), ("rows.jsonl", 4)]


def test_memory_v3_is_read_as_data() -> None:
    found = only("memory.db", database(*V3, wal=True), FileFormat.MEMORY_V3)

    first, second = found.candidates
    assert (first.type, first.tags, first.confidence) == ("decision", ("ops",), 0.9)
    assert first.links == (("see_also", second.external_id),)
    assert second.external_id.startswith("memory-v3:")
    assert (second.type, second.confidence, second.event_at) == (None, None, None)
    assert faults(found) == [("memory.db", 4)]
    assert len(found.files[0].notices) == 2


@pytest.mark.parametrize(
    "script",
    [
        "CREATE VIEW memories AS SELECT 1 AS id, 'x' AS content",
        "CREATE TABLE other (a)",
        "CREATE TABLE memories (a)",
        "CREATE TABLE memories (id, content, h AS (hex(zeroblob(1000000))));"
        "INSERT INTO memories (id, content) VALUES (1, 'a long enough text')",
    ],
)
def test_a_database_that_is_not_what_it_says_is_refused(script: str) -> None:
    with sqlite3.connect(":memory:") as base:
        base.executescript(script)
        data = base.serialize()

    found = foreign_files.read(name="memory.db", data=data)

    assert found.candidates == ()
    assert len(found.faults) == 1
    for cut in (20, 100, 5_000):  # and one that is damaged
        found = foreign_files.read(name="memory.db", data=database(V3[0])[:cut] + b"\xff" * 500)
        assert (found.candidates, len(found.faults)) == ((), 1)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "cp1252"]
)
def test_a_text_is_read_in_the_encoding_it_was_written_with(encoding: str) -> None:
    text = "Never deploy the café service “live” on a Friday because nobody is there.\n"

    found = foreign_files.read(name="notes.md", data=text.encode(encoding))

    assert found.candidates[0].content == text.strip()
    assert bool(found.files[0].notices) is not encoding.startswith("utf-8")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b""), ("a.md", b" \n\t\n"), ("a.md", bytes(range(256)) * 20),
        ("a.md", b"\x89PNG\r\n\x1a\n\x00\x00"), ("a.md", b"\x7fELF\x02\x01\x01\x00"),
        ("a.md", b"\xff\xfea"), ("a.md", "a\x00b".encode("utf-16")), ("a.json", b"{"),
        ("a.json", b'{"a": 1}'), ("a.json", b"hello"), ("a.json", b"[" * 100_000),
        ("a.zip", b"PK\x03\x04 and no more"), ("a.zip", b"PK\x05\x06" + b"\0" * 18),
    ],
)  # fmt: skip
def test_a_file_of_which_nothing_can_be_taken_says_so(name: str, data: bytes) -> None:
    found = foreign_files.read(name=name, data=data)

    assert found.candidates == ()
    assert [fault.file for fault in found.faults] == [name]


@given(data=st.binary(max_size=400))
def test_whatever_is_read_can_be_stored(data: bytes) -> None:
    decoded = reading.decode(data=data)

    assert "\x00" not in decoded.text
    assert decoded.text.encode().decode() == decoded.text


def test_a_folder_is_read_file_by_file() -> None:
    data = zipped(
        **{
            "rules/CLAUDE.md": RULES,
            "vault/Taxes.md": OBSIDIAN,
            "logo.png": b"\x89PNG\x00",
            ".obsidian/app.json": '{"a": 1}',
            "rows.jsonl": '{"content": "It opens at nine."}\n{"content": "It closes."}',
        }
    )

    found = foreign_files.read(name="vault.zip", data=data)

    assert [file.format for file in found.files] == [
        FileFormat.MARKDOWN,
        FileFormat.OBSIDIAN,
        FileFormat.JSON_LINES,
    ]
    assert found.faults == ()


def test_links_archives_bombs_and_names_that_lead_out_of_an_archive_are_refused() -> None:
    for name in ("../evil.md", "/etc/evil.md", "a/../../evil.md", "C:\\evil.md"):
        found = foreign_files.read(name="a.zip", data=zipped(**{name: RULES, "good.md": RULES}))
        assert {each.file for each in found.candidates} == {"good.md"}
        assert len(found.faults) == 1
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("inner.zip", zipped(**{"a.md": RULES}))

    found = foreign_files.read(name="a.zip", data=stream.getvalue())

    assert found.candidates == ()
    assert len(found.faults) == 2

    found = foreign_files.read(name="a.zip", data=zipped(**{"bomb.md": b"a" * (64 * 1_048_576)}))

    (fault,) = found.faults
    assert found.candidates == ()
    assert fault.file == "bomb.md"


def test_very_much_is_read_to_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_FILES", 3)
    monkeypatch.setattr(memory_v3, "MOST_BYTES", 100)
    endless = f"{RULES}\n{'x ' * 600_000}\n"
    row = ("Deploys happen on Tuesdays.", "fact", "[]", 0.9, None, 0, "[]")
    items = "".join(f"- n{number}\n" for number in range(5_000))

    many = foreign_files.read(name="a.zip", data=zipped(**{f"{i}.md": RULES for i in range(5)}))
    found = foreign_files.read(name="CLAUDE.md", data=endless.encode())
    rows = foreign_files.read(name="memory.db", data=database(*((n, *row) for n in range(1, 9))))
    fields, _, _ = markdown_notes.split_head(text=f"---\naliases:\n{items}---\nThe mill.\n")

    assert (len(many.files), len(many.faults)) == (3, 1)
    assert len(found.candidates) == 2
    assert faults(found) == [("CLAUDE.md", 7)]
    assert len(rows.candidates) == 2
    assert "first 2 memories" in rows.files[0].notices[0]
    assert len(fields["aliases"]) == markdown_notes.MOST_ITEMS


# What is odd in one row or one file is left out and told, and the rest goes on.


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+14:00"])
def test_moment_that_no_row_holds_is_left_out(moment: str) -> None:
    row = json.dumps([{"content": "It opens at nine.", "created_at": moment}])
    data = database((1, "Deploys happen on Tuesdays.", "fact", "[]", 0.9, moment, 0, "[]"))

    (of_json,) = foreign_files.read(name="a.json", data=row.encode()).candidates
    (of_database,) = foreign_files.read(name="memory.db", data=data).candidates

    assert (of_json.event_at, of_database.event_at) == (None, None)


@pytest.mark.parametrize(
    "odd",
    [
        {"type": ["fact"]},
        {"type": {"a": 1}},
        {"created_at": {"$date": "2020"}},
        {"event_at": ["2020"]},
        {"confidence": 10**400},
        {"links": [{"kind": ["a"], "target": "b"}, 7]},
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_odd_field_is_left_out_and_the_row_goes_on(odd: dict[str, object], is_ours: bool) -> None:
    record = {"id": "a", "content": "It opens at nine.", **odd}
    value = {"format": "cairn-export", "memories": [record]} if is_ours else [record]

    (found,) = foreign_files.read(name="a.json", data=json.dumps(value).encode()).candidates

    assert (found.type, found.event_at, found.confidence) == (None, None, None)
    assert found.links == ()


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("We grind fresh for every cup (light roasts)  ", " (light roasts)"),
        ("We grind fresh for every cup ()", ""),
        (f"We grind fresh for every cup ({'x' * 201})", ""),
        ("We grind fresh (always) for every cup (light (roasts))", ""),
        ("We grind fresh (always) for every cup (light)", " (light)"),
    ],
)
def test_what_stands_in_parentheses_at_the_end_is_the_context(said: str, context: str) -> None:
    text = f"---\npermalink: a\n---\n- [fact] {said}\n"

    (found,) = foreign_files.read(name="coffee.md", data=text.encode()).candidates

    assert found.content == said.rstrip() if not context else found.content.endswith(context)
    assert found.content.count("(light)") == said.count("(light)")


def test_equal_numbers_of_two_sources_are_two_ids() -> None:
    rest = ("fact", "[]", 0.9, None, 0, "[]")
    rows = json.dumps([{"id": "1", "content": "It opens at nine."}]).encode()
    first = database((1, "Deploys happen on Tuesdays.", *rest), (2, "We test on Mondays.", *rest))
    grown = database((1, "Deploys happen on Tuesdays.", *rest), (2, "We test at night.", *rest))
    other = database((1, "The gate opens at nine.", *rest))

    def ids(name: str, data: bytes) -> set[str]:
        return {one.external_id for one in foreign_files.read(name=name, data=data).candidates}

    for number in (-1, 3_000_000_000):  # no line of a file
        data = database((number, "Deploys happen on Tuesdays.", *rest))
        (found,) = foreign_files.read(name="memory.db", data=data).candidates
        assert (found.line, found.keys) == (None, (found.external_id,))
        assert found.external_id.endswith(f":{number}")
    assert ids("a.db", first) == ids("b.db", grown)
    assert ids("a.db", first).isdisjoint(ids("a.db", other))
    assert ids("a.json", rows) == ids("a.json", rows)
    assert ids("a.json", rows).isdisjoint(ids("b.json", rows))


def test_exports_of_ours_are_read_beyond_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        {"id": str(number), "content": f"Rule {number} of the mill.", "type": "fact"}
        for number in range(6)
    ]
    monkeypatch.setattr(reading, "LARGEST_TEXT", 100)

    for format in (ExportFormat.JSON, ExportFormat.LINES):
        data = b"".join(export.WRITERS[format][1](records, 0))
        assert len(foreign_files.read(name="export", data=data).candidates) == 6

    monkeypatch.setattr(reading, "MOST_FILES", 3)
    head = "---\nformat: cairn-export\nrecord: "
    files = {
        f"{number}.md": f'{head}{{"id": "{number}"}}\n---\n\nThe mill is {number}.\n'
        for number in range(6)
    }

    found = foreign_files.read(name="a.zip", data=zipped(**files))

    assert (len(found.candidates), found.faults) == (6, ())


HEAD = json.dumps({"content": "The gate of the mill opens at nine."})


def rows(count: int) -> bytes:
    return "\n".join([HEAD] * count).encode()


def test_of_a_file_as_much_is_taken_as_there_is_room_for_and_the_rest_is_counted() -> None:
    files = (("a.jsonl", rows(MOST_CANDIDATES + 5)), ("b.json", b"no JSON at all"))

    found = reading.read_all(files=files)

    assert len(found.candidates) == MOST_CANDIDATES
    assert [file.name for file in found.files] == ["a.jsonl"]
    assert found.files[0].candidates == MOST_CANDIDATES + 1
    (fault,) = found.faults
    assert (fault.file, fault.line) == ("a.jsonl", MOST_CANDIDATES + 1)

    found = foreign_files.read(name="a.jsonl", data=rows(MOST_CANDIDATES))

    assert (len(found.candidates), found.faults) == (MOST_CANDIDATES, ())

    broken = b"\n".join([HEAD.encode(), HEAD.encode(), *[b"{]"] * (MOST_CANDIDATES + 5)])

    found = foreign_files.read(name="a.jsonl", data=broken)

    assert len(found.faults) == MOST_CANDIDATES + 1
    assert "cannot be read" in str(found.faults[-1].detail)
    assert len(found.candidates) == 2


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
        ("version", "confirmations", "access_count", "given_count", "authority", "governance"),
        st.integers(0, 9),
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
        **dict.fromkeys(FIELDS), "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a80", "type": "gotcha",
        "content": "The gate of the mill opens at nine.",
        "citation": "The gate of the mill opens at nine.", "tags": ["mill"],
        "related_files": ["gate.py"], "related_modules": [], "status": "active",
        "needs_review": False, "taint_reason": "", "pinned": False, "governance": 3,
        "importance": 0.5, "confidence": 0.8, file_formats.VERSIONS: [], file_formats.LINKS: [],
        file_formats.TOPICS: [], **given,
    }  # fmt: skip


def written(format: ExportFormat, *records: dict[str, Any], budget_tokens: int = 1) -> bytes:
    return b"".join(export.WRITERS[format][1](records, budget_tokens))


def claude(*records: dict[str, Any], budget_tokens: int = 4_000) -> str:
    return written(ExportFormat.CLAUDE, *records, budget_tokens=budget_tokens).decode()


@pytest.mark.goal(name="G23")
def test_every_column_of_a_memory_is_decided() -> None:
    columns = {field.name for field in Memory._meta.concrete_fields} | set(OF_USAGE)
    named = {name.removesuffix("_id") if name == "project_id" else name for name in columns}

    assert named == set(FIELDS)
    assert all(why for fate, why in FIELDS.values() if fate is not FieldRule.KEPT)


@pytest.mark.parametrize("format", LOSSLESS)
@given(records=st.lists(RECORD, min_size=1, max_size=3))
def test_the_written_is_read_as_it_was(format: ExportFormat, records: list[dict[str, Any]]) -> None:
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
