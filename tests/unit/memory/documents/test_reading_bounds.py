"""An upload is read until as many statements as are taken were found, and no further."""

import json

from memory.documents import reading
from memory.documents.candidates import MOST_CANDIDATES

HEAD = json.dumps({"content": "The gate of the mill opens at nine."})


def rows(count: int) -> bytes:
    return "\n".join([HEAD] * count).encode()


def test_what_comes_after_the_last_statement_taken_is_not_read() -> None:
    files = (("a.jsonl", rows(MOST_CANDIDATES + 5)), ("b.json", b"no JSON at all"))

    found = reading.read_all(files=files)

    assert len(found.candidates) == MOST_CANDIDATES
    assert [file.name for file in found.files] == ["a.jsonl"]
    assert found.files[0].candidates == MOST_CANDIDATES + 1
    (fault,) = found.faults
    assert (fault.file, fault.line) == ("a.jsonl", MOST_CANDIDATES + 1)


def test_as_many_as_are_taken_are_no_fault() -> None:
    found = reading.read(name="a.jsonl", data=rows(MOST_CANDIDATES))

    assert (len(found.candidates), found.faults) == (MOST_CANDIDATES, ())


def test_rows_that_cannot_be_read_are_counted_as_well() -> None:
    broken = b"\n".join([HEAD.encode(), HEAD.encode(), *[b"{]"] * (MOST_CANDIDATES + 5)])

    found = reading.read(name="a.jsonl", data=broken)

    assert len(found.faults) == MOST_CANDIDATES + 1
    assert "cannot be read" in str(found.faults[-1].detail)
    assert len(found.candidates) == 2
