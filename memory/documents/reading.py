"""Which format a file has, and what it holds: the one way from bytes to candidates.

Content decides before the name does: a zip and a database by their first bytes, JSON by its first
character, everything else is words. So a file with a wrong ending is read for what it is. File
follows file until an upload has as many statements as are taken; the rest is not read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from accounts.messages import message
from memory.documents import archives, front_matter, notes, records
from memory.documents.archives import Member
from memory.documents.candidates import (
    LONGEST_NAME,
    MOST_CANDIDATES,
    Fault,
    Format,
    Reading,
    of_file,
    together,
    unreadable,
)
from memory.documents.formats import cairn, memory_v3
from memory.text import decoding

LARGEST_TEXT: Final = 16 * 1_048_576  # bytes of one text, ours
LARGEST_OWN: Final = 50 * 1_048_576  # bytes of an export of ours, as much as is handed in at once
OWN: Final = f'{{"format": "{cairn.FORMAT}"'.encode()  # how it begins
WORDS: Final = frozenset({
    "", ".md", ".markdown", ".mdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc", ".cursorrules",
    ".windsurfrules", ".clinerules", ".rules", ".text", ".log",
})  # fmt: skip
RECORDS: Final = frozenset({".json", ".jsonl", ".ndjson"})


def read(*, name: str, data: bytes) -> Reading:
    """Read one upload, a file or a zip of files."""
    return _bounded(_readings(_clean(name), data))


def read_all(*, files: tuple[tuple[str, bytes], ...]) -> Reading:
    """Read several uploads as one."""
    return _bounded(one for name, data in files for one in _readings(_clean(name), data))


def _readings(name: str, data: bytes) -> Iterator[Reading]:
    """Read file after file, each when it is asked for."""
    if archives.is_archive(data=data):
        yield from _read_archive(name, data)
    else:
        yield _read_file(name, data)


def _read_archive(name: str, data: bytes) -> Iterator[Reading]:
    is_empty = True
    for member in archives.members(data=data):
        found = _read_member(name, member)
        if found is not None:
            is_empty = False
            yield found
    if is_empty:
        yield unreadable(name=name, detail="The zip holds nothing that can be imported.")


def _read_member(name: str, member: Member) -> Reading | None:
    if member.fault:
        fault = Fault(file=member.name or name, line=None, detail=member.fault)
        return Reading(files=(), candidates=(), faults=(fault,))
    if archives.is_archive(data=member.data):
        return unreadable(name=member.name, detail="A zip inside of a zip is not read.")
    if _is_of_interest(member.name, member.data):
        return _read_file(member.name, member.data)
    return None


def _is_of_interest(name: str, data: bytes) -> bool:
    """Say whether a file of a folder is words or records; pictures and programs lie beside them."""
    ending = PurePosixPath(name).suffix.lower()
    return ending in WORDS | RECORDS or memory_v3.is_database(data=data)


def _read_file(name: str, data: bytes) -> Reading:
    if memory_v3.is_database(data=data):
        return memory_v3.read(name=name, data=data)
    most = LARGEST_OWN if data.startswith(OWN) else LARGEST_TEXT
    if len(data) > most:
        detail = message("The file is larger than {most} bytes.", most=most)
        return unreadable(name=name, detail=detail)
    decoded = decoding.decode(data=data)
    if decoded.fault:
        return unreadable(name=name, detail=decoded.fault)
    if not decoded.text.strip():
        return unreadable(name=name, detail="The file is empty.")
    found = _read_text(name, decoded.text)
    if not decoded.notice:
        return found
    told = tuple(replace(file, notices=(decoded.notice, *file.notices)) for file in found.files)
    return replace(found, files=told)


def _read_text(name: str, text: str) -> Reading:
    is_named_words = PurePosixPath(name).suffix.lower() in WORDS - {""}
    if not is_named_words and records.looks_like_lines(text=text):
        return records.read_lines(name=name, text=text)
    starts_json = text.lstrip()[:1] in {"{", "["}
    if starts_json and not is_named_words:
        return records.read_document(name=name, text=text)
    if PurePosixPath(name).suffix.lower() in RECORDS:
        return unreadable(name=name, line=1, detail="The file does not begin like JSON.")
    ours = _own_memory(name, text)
    return ours or notes.read(name=name, text=text)


def _own_memory(name: str, text: str) -> Reading | None:
    """Read a file of our Markdown export: one memory, its fields at the head."""
    note = front_matter.read(text=text)
    if note.fields.get("format") != cairn.FORMAT:
        return None
    told = note.fields.get("record")
    record: dict[str, Any] = told if isinstance(told, dict) else {}
    body = note.body.removeprefix("\n").removesuffix("\n")
    return _own_reading(name, {"content": body, **record})


def _own_reading(name: str, record: Mapping[str, Any]) -> Reading:
    try:
        found = records.of_record(name=name, line=1, record=record)
    except ValueError as error:
        detail = message("The record is broken: {fault}.", fault=str(error))
        return unreadable(name=name, line=1, detail=detail)
    return of_file(name=name, format=Format.OWN_MARKDOWN, candidates=(found,))


def _bounded(readings: Iterable[Reading]) -> Reading:
    """Join readings until an upload's measure is full; what comes after is not read at all."""
    taken: list[Reading] = []
    found = faults = 0
    for one in readings:
        taken.append(one)
        found, faults = found + len(one.candidates), faults + len(one.faults)
        if max(found, faults) > MOST_CANDIDATES:
            break
    return _cut(together(readings=tuple(taken)))


def _cut(found: Reading) -> Reading:
    most = MOST_CANDIDATES
    told = found.faults[:most]
    if len(found.faults) > most:
        beyond = found.faults[most]
        detail = message("More than {most} rows cannot be read; the rest was left.", most=most)
        told = (*told, Fault(file=beyond.file, line=beyond.line, detail=detail))
    if len(found.candidates) > most:
        dropped = found.candidates[most]
        detail = message(
            "Only the first {most} statements are taken; divide what is left.", most=most
        )
        told = (*told, Fault(file=dropped.file, line=dropped.line, detail=detail))
    return replace(found, candidates=found.candidates[:most], faults=told)


def _clean(name: str) -> str:
    plain = "".join(one for one in name.replace("\\", "/") if one.isprintable())
    parts = [part for part in PurePosixPath(plain).parts if part not in {"/", ".."}]
    return "/".join(parts)[-LONGEST_NAME:] or "pasted.md"
