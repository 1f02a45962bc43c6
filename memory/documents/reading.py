"""From the bytes of an upload to candidates: which format each file has, and what it holds.

Content decides before the name does: a zip and a database by their first bytes, JSON by its first
character, everything else is words. So a file with a wrong ending is read for what it is. File
follows file until an upload has as many statements as are taken; the rest is not read.

Nothing of a zip is unpacked to a disk. What a file's head says of its size is not believed: it is
read in pieces and left when it is too large or unpacks to far more than it was. Names with `..`, a
root or a drive, links, encrypted files and archives inside of archives are refused, each by itself.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, Final

from accounts.messages import Message, message
from memory.documents.candidates import (
    LONGEST_NAME,
    MOST_CANDIDATES,
    DocumentCandidate,
    DocumentReading,
    FileFault,
    FileFormat,
    FileRead,
)
from memory.documents.formats import cairn, json_rows, markdown_notes, memory_v3
from memory.text import decoding

LARGEST_TEXT: Final = 16 * 1_048_576  # bytes of one text; default, not measured
LARGEST_OWN: Final = 50 * 1_048_576  # bytes of an own export, as much as is handed in at once
OWN_JSON: Final = f'{{"format": "{cairn.FORMAT}"'.encode()  # how it begins
OWN_NOTE: Final = f"---\nformat: {cairn.FORMAT}\n".encode()
WORDS: Final = frozenset({
    "", ".md", ".markdown", ".mdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc", ".cursorrules",
    ".windsurfrules", ".clinerules", ".rules", ".text", ".log",
})  # fmt: skip
RECORDS: Final = frozenset({".json", ".jsonl", ".ndjson"})
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")  # how it begins, with files and empty
MOST_FILES: Final = 5_000
MOST_OWN_FILES: Final = 50_000  # of an own export, which has a file a memory
LARGEST_FILE: Final = 16 * 1_048_576  # bytes unpacked
LARGEST_WHOLE: Final = 128 * 1_048_576  # bytes unpacked, of all files together
HIGHEST_RATIO: Final = 200  # unpacked to packed; text is at most some 30
SMALL: Final = 1_048_576  # bytes up to which the ratio does not matter
PIECE: Final = 65_536
IGNORED: Final = frozenset({"__macosx", ".git", ".obsidian", ".trash", "node_modules"})
IGNORED_NAMES: Final = frozenset({".ds_store", "thumbs.db"})
Unpacked = tuple[str, bytes, Message | str]  # a file's name and bytes, or why it is refused
BROKEN: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)


def read(*, name: str, data: bytes) -> DocumentReading:
    """Read one upload, a file or a zip of files."""
    return read_all(files=((name, data),))


def read_all(*, files: tuple[tuple[str, bytes], ...]) -> DocumentReading:
    """Read several uploads as one, until its measure is full; what comes after is not read."""
    most = MOST_CANDIDATES
    read_files: list[FileRead] = []
    candidates: list[DocumentCandidate] = []
    faults: list[FileFault] = []
    for one in _read_each(files):
        read_files += one.files
        candidates += one.candidates
        faults += one.faults
        if max(len(candidates), len(faults)) > most:
            break
    beyond = faults[most:]
    del faults[most:]
    if beyond:
        detail = message("More than {most} rows cannot be read; the rest was left.", most=most)
        faults.append(replace(beyond[0], detail=detail))
    if len(candidates) > most:
        dropped = candidates[most]
        detail = message(
            "Only the first {most} statements are taken; divide what is left.", most=most
        )
        faults.append(FileFault(file=dropped.file, line=dropped.line, detail=detail))
    return DocumentReading(
        files=tuple(read_files), candidates=tuple(candidates[:most]), faults=tuple(faults)
    )


def _read_each(files: tuple[tuple[str, bytes], ...]) -> Iterator[DocumentReading]:
    """Read file after file, each when it is asked for."""
    for name, data in files:
        plain = "".join(one for one in name.replace("\\", "/") if one.isprintable())
        parts = [part for part in PurePosixPath(plain).parts if part not in {"/", ".."}]
        clean = "/".join(parts)[-LONGEST_NAME:] or "pasted.md"
        if data.startswith(ZIP):
            yield from _read_archive(clean, data)
        else:
            yield _read_file(clean, data)


def _read_file(name: str, data: bytes) -> DocumentReading:
    if memory_v3.is_database(data=data):
        return memory_v3.read(name=name, data=data)
    most = LARGEST_OWN if data.startswith(OWN_JSON) else LARGEST_TEXT
    if len(data) > most:
        detail = message("The file is larger than {most} bytes.", most=most)
        return DocumentReading.unreadable(name=name, detail=detail)
    decoded = decoding.decode(data=data)
    if decoded.fault:
        return DocumentReading.unreadable(name=name, detail=decoded.fault)
    if not decoded.text.strip():
        return DocumentReading.unreadable(name=name, detail="The file is empty.")
    found = _read_text(name, decoded.text)
    if not decoded.notice:
        return found
    noted = tuple(replace(file, notices=(decoded.notice, *file.notices)) for file in found.files)
    return replace(found, files=noted)


def _read_text(name: str, text: str) -> DocumentReading:
    ending = PurePosixPath(name).suffix.lower()
    if ending not in WORDS - {""}:
        if json_rows.looks_like_lines(text=text):
            return json_rows.read_lines(name=name, text=text)
        if text.lstrip()[:1] in {"{", "["}:
            return json_rows.read_document(name=name, text=text)
    if ending in RECORDS:
        detail = "The file does not begin like JSON."
        return DocumentReading.unreadable(name=name, line=1, detail=detail)
    note = markdown_notes.split_head(text=text)
    if note.fields.get("format") != cairn.FORMAT:
        return markdown_notes.read(name=name, text=text)
    kept = note.fields.get("record")  # our Markdown export: one memory, its fields at the head
    fields: dict[str, Any] = kept if isinstance(kept, dict) else {}
    record = {"content": note.body.removeprefix("\n").removesuffix("\n"), **fields}
    try:
        found = json_rows.read_record(name=name, line=1, record=record)
    except ValueError as error:
        broken = message("The record is broken: {fault}.", fault=str(error))
        return DocumentReading.unreadable(name=name, line=1, detail=broken)
    return DocumentReading.of_file(name=name, format=FileFormat.OWN_MARKDOWN, candidates=(found,))


def _read_archive(name: str, data: bytes) -> Iterator[DocumentReading]:
    """Read the files of a zip, in its order; pictures and programs among them are left out."""
    is_empty = True
    for member, content, fault in _unpack(data):
        if fault:
            place = FileFault(file=member or name, line=None, detail=fault)
            found = DocumentReading(files=(), candidates=(), faults=(place,))
        elif content.startswith(ZIP):
            detail = "A zip inside of a zip is not read."
            found = DocumentReading.unreadable(name=member, detail=detail)
        elif PurePosixPath(member).suffix.lower() in WORDS | RECORDS or memory_v3.is_database(
            data=content
        ):
            found = _read_file(member, content)
        else:
            continue
        is_empty = False
        yield found
    if is_empty:
        yield DocumentReading.unreadable(
            name=name, detail="The zip holds nothing that can be imported."
        )


def _unpack(data: bytes) -> Iterator[Unpacked]:
    """Yield the name and bytes of each file of a zip, or why it is refused.

    A broken zip is one file with a fault and no name.
    """
    left, most = LARGEST_WHOLE, MOST_FILES
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for number, info in enumerate(archive.infolist()):
                if number >= most:
                    yield "", b"", message("The zip holds more than {most} files.", most=most)
                    return
                parts = PurePosixPath(info.filename.replace("\\", "/").lower()).parts
                if info.is_dir() or IGNORED & set(parts) or IGNORED_NAMES & set(parts[-1:]):
                    continue
                found = _unpack_file(archive, info, min(LARGEST_FILE, left))
                left -= len(found[1])
                if number == 0 and found[1].startswith(OWN_NOTE):
                    most = MOST_OWN_FILES
                yield found
                if left <= 0:
                    whole = LARGEST_WHOLE
                    yield "", b"", message("The zip unpacks to more than {most} bytes.", most=whole)
                    return
    except (*BROKEN, OSError, ValueError):
        yield "", b"", message("The zip is broken or of a kind that is not read.")


def _unpack_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Unpacked:
    name = info.filename.replace("\\", "/")[-LONGEST_NAME:]
    parts = PurePosixPath(name).parts
    if stat.S_ISLNK(info.external_attr >> 16):
        return name, b"", message("The file in the zip is a link; links are not followed.")
    if ".." in parts or name.startswith("/") or ":" in parts[0] or "\x00" in name:
        return name, b"", message("The file's name leads out of the folder.")
    if info.flag_bits & 0x1:
        return name, b"", message("The file in the zip is encrypted.")
    found = bytearray()
    try:
        with archive.open(info) as packed:
            while piece := packed.read(PIECE):
                found += piece
                size, highest = len(found), HIGHEST_RATIO * max(1, info.compress_size)
                if size > most or (size > SMALL and size > highest):
                    detail = message("The file unpacks to more than {most} bytes.", most=size)
                    return name, b"", detail
    except (*BROKEN, RuntimeError):
        return name, b"", message("The file in the zip is broken or packed in an unknown way.")
    return name, bytes(found), ""
