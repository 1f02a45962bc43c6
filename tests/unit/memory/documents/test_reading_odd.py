"""What is odd in one row or one file is left out and told, and the rest goes on."""

import json

import pytest

from memory.documents import markdown_notes, memory_v3, reading
from memory.documents.actions import export
from memory.documents.actions.export import ExportFormat
from memory.documents.file_formats import MOST_CANDIDATES
from tests.support.foreign_files import database, zipped


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+14:00"])
def test_moment_that_no_row_holds_is_left_out(moment: str) -> None:
    row = json.dumps([{"content": "It opens at nine.", "created_at": moment}])
    data = database((1, "Deploys happen on Tuesdays.", "fact", "[]", 0.9, moment, 0, "[]"))

    (of_json,) = reading.read(name="a.json", data=row.encode()).candidates
    (of_database,) = reading.read(name="memory.db", data=data).candidates

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

    (found,) = reading.read(name="a.json", data=json.dumps(value).encode()).candidates

    assert (found.type, found.event_at, found.confidence) == (None, None, None)
    assert found.links == ()


@pytest.mark.parametrize("number", [-1, 3_000_000_000])
def test_number_of_a_database_that_is_no_line_names_none(number: int) -> None:
    data = database((number, "Deploys happen on Tuesdays.", "fact", "[]", 0.9, None, 0, "[]"))

    (found,) = reading.read(name="memory.db", data=data).candidates

    assert (found.line, found.keys) == (None, (found.external_id,))
    assert found.external_id.endswith(f":{number}")


def test_texts_of_a_database_are_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_v3, "MOST_BYTES", 100)
    row = ("Deploys happen on Tuesdays.", "fact", "[]", 0.9, None, 0, "[]")

    found = reading.read(
        name="memory.db", data=database(*((number, *row) for number in range(1, 9)))
    )

    assert len(found.candidates) == 2
    assert "first 2 memories" in found.files[0].notices[0]


def test_list_at_the_head_of_a_note_is_read_up_to_a_bound() -> None:
    items = "".join(f"- n{number}\n" for number in range(5_000))

    fields, _, _ = markdown_notes.split_head(text=f"---\naliases:\n{items}---\nThe mill.\n")

    assert len(fields["aliases"]) == markdown_notes.MOST_ITEMS


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

    (found,) = reading.read(name="coffee.md", data=text.encode()).candidates

    assert found.content == said.rstrip() if not context else found.content.endswith(context)
    assert found.content.count("(light)") == said.count("(light)")


def test_equal_numbers_of_two_sources_are_two_ids() -> None:
    rest = ("fact", "[]", 0.9, None, 0, "[]")
    rows = json.dumps([{"id": "1", "content": "It opens at nine."}]).encode()
    first = database((1, "Deploys happen on Tuesdays.", *rest), (2, "We test on Mondays.", *rest))
    grown = database((1, "Deploys happen on Tuesdays.", *rest), (2, "We test at night.", *rest))
    other = database((1, "The gate opens at nine.", *rest))

    def ids(name: str, data: bytes) -> set[str]:
        return {one.external_id for one in reading.read(name=name, data=data).candidates}

    assert ids("a.db", first) == ids("b.db", grown)
    assert ids("a.db", first).isdisjoint(ids("a.db", other))
    assert ids("a.json", rows) == ids("a.json", rows)
    assert ids("a.json", rows).isdisjoint(ids("b.json", rows))


def test_exports_of_ours_are_read_beyond_the_bounds_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [
        {"id": str(number), "content": f"Rule {number} of the mill.", "type": "fact"}
        for number in range(6)
    ]
    monkeypatch.setattr(reading, "LARGEST_TEXT", 100)

    for format in (ExportFormat.JSON, ExportFormat.LINES):
        data = b"".join(export.WRITERS[format][1](records, 0))
        assert len(reading.read(name="export", data=data).candidates) == 6

    monkeypatch.setattr(reading, "MOST_FILES", 3)
    head = "---\nformat: cairn-export\nrecord: "
    files = {
        f"{number}.md": f'{head}{{"id": "{number}"}}\n---\n\nThe mill is {number}.\n'
        for number in range(6)
    }

    found = reading.read(name="a.zip", data=zipped(**files))

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

    found = reading.read(name="a.jsonl", data=rows(MOST_CANDIDATES))

    assert (len(found.candidates), found.faults) == (MOST_CANDIDATES, ())

    broken = b"\n".join([HEAD.encode(), HEAD.encode(), *[b"{]"] * (MOST_CANDIDATES + 5)])

    found = reading.read(name="a.jsonl", data=broken)

    assert len(found.faults) == MOST_CANDIDATES + 1
    assert "cannot be read" in str(found.faults[-1].detail)
    assert len(found.candidates) == 2
