"""From the bytes of an upload to candidates: which format each file has, and what it holds.

Content decides before the name does: a zip and a database by their first bytes, JSON by its first
character, everything else is words. So a file with a wrong ending is read for what it is. File
follows file until an upload has as many statements as are taken; the rest is not read.

Words are UTF-8; UTF-16 and UTF-32 with a mark, and UTF-16 without one where every other byte is
nothing. What is none of these and has no control characters is taken for Windows-1252, the superset
of Latin-1 that editors write, and that is told. The rest is binary and refused. Tried and dropped:
a guess by charset-normalizer, since these rules can name the byte that was no UTF-8.

Nothing of a zip is unpacked to a disk. What a file's head says of its size is not believed: it is
read in pieces and left when it is too large or unpacks to far more than it was. Names with `..`, a
root or a drive, links, encrypted files and archives inside of archives are refused, each by itself.
"""

import codecs
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

from accounts.messages import Message, message
from memory.documents import json_rows, markdown_notes, memory_v3
from memory.documents.file_formats import (
    FORMAT,
    LONGEST_NAME,
    MOST_CANDIDATES,
    DocumentCandidate,
    DocumentReading,
    FileFault,
    FileFormat,
    FileRead,
    Unreadable,
)

LARGEST_TEXT: Final = 16 * 1_048_576  # bytes of one text; default, not measured
LARGEST_OWN: Final = 50 * 1_048_576  # bytes of an own export, as much as is handed in at once
OWN_JSON: Final = f'{{"format": "{FORMAT}"'.encode()  # how it begins
OWN_NOTE: Final = f"---\nformat: {FORMAT}\n".encode()
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
BROKEN: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
MARKS: Final = (  # longest first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT: Final = 4_096  # bytes from which an encoding without a mark is told
NULS_OF_UTF16: Final = 0.3  # share of the bytes on one side, ours: text that is mostly Latin
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
Unpacked = tuple[str, bytes, Message | str]  # a file's name and bytes, or why it is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a file, or why it has none; `notice` says when it was no UTF-8."""

    text: str
    fault: Message | str = ""
    notice: Message | str = ""


BINARY: Final = Decoded(text="", fault=message("The file is binary; only text is imported."))


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
    """Read one file; of one that cannot be read, why."""
    try:
        if data.startswith(memory_v3.MAGIC):
            return memory_v3.read(name=name, data=data)
        most = LARGEST_OWN if data.startswith(OWN_JSON) else LARGEST_TEXT
        if len(data) > most:
            raise Unreadable(message("The file is larger than {most} bytes.", most=most))
        decoded = decode(data=data)
        if decoded.fault or not decoded.text.strip():
            raise Unreadable(decoded.fault or message("The file is empty."))
        found = _read_text(name, decoded.text)
    except Unreadable as error:
        return _refused(name, error.detail, error.line)
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
        raise Unreadable(message("The file does not begin like JSON."), line=1)
    fields, body, _ = markdown_notes.split_head(text=text)
    if fields.get("format") != FORMAT:
        return markdown_notes.read(name=name, text=text)
    kept = fields.get("record")  # our Markdown export: one memory, its fields at the head
    record = {"content": body.removeprefix("\n").removesuffix("\n")}
    record |= kept if isinstance(kept, dict) else {}
    found = json_rows.read_record(name=name, line=1, record=record)
    return DocumentReading.of_file(name=name, format=FileFormat.OWN_MARKDOWN, candidates=(found,))


def decode(*, data: bytes) -> Decoded:
    """Decode a file."""
    marked = next((encoding for mark, encoding in MARKS if data.startswith(mark)), "")
    encoding = marked or _unmarked_utf16(data) or "utf-8"
    name, notice = encoding.removesuffix("-sig"), ""
    if name != "utf-8":
        notice = message("The file was read as {encoding}.", encoding=name.upper())
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            return Decoded(
                text="",
                fault=message(
                    "The file is no valid {encoding}: byte {place}.",
                    encoding=name.upper(),
                    place=error.start,
                ),
            )
        if _CONTROLS.search(data[:LOOKED_AT].decode("latin-1")):
            return BINARY
        text = data.decode("cp1252", errors="replace")
        notice = message(
            "Byte {place} is not UTF-8; the file was read as Windows-1252.", place=error.start
        )
    if _CONTROLS.search(text):
        return BINARY
    return Decoded(text=text.replace("\r\n", "\n").replace("\r", "\n"), notice=notice)


def _unmarked_utf16(data: bytes) -> str:
    head = data[:LOOKED_AT]
    if len(data) % 2 or len(head) < 2:
        return ""
    half = len(head) / 2
    even, odd = head[::2].count(0) / half, head[1::2].count(0) / half
    if odd > NULS_OF_UTF16 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > NULS_OF_UTF16 and not odd else ""


def _read_archive(name: str, data: bytes) -> Iterator[DocumentReading]:
    """Read the files of a zip, in its order; pictures and programs among them are left out."""
    is_empty = True
    for member, content, fault in _unpack(data):
        is_known = PurePosixPath(member).suffix.lower() in WORDS | RECORDS
        if fault:
            place = FileFault(file=member or name, line=None, detail=fault)
            yield DocumentReading(files=(), candidates=(), faults=(place,))
        elif content.startswith(ZIP):
            yield _refused(member, message("A zip inside of a zip is not read."))
        elif is_known or content.startswith(memory_v3.MAGIC):
            yield _read_file(member, content)
        else:
            continue
        is_empty = False
    if is_empty:
        yield _refused(name, message("The zip holds nothing that can be imported."))


def _refused(name: str, detail: Message | str, line: int | None = None) -> DocumentReading:
    fault = FileFault(file=name, line=line, detail=detail)
    return DocumentReading.of_file(name=name, format=FileFormat.UNKNOWN, faults=(fault,))


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


def _refusal(info: zipfile.ZipInfo, name: str) -> Message | str:
    """Return why a file of a zip is not unpacked, empty for one that is."""
    parts = PurePosixPath(name).parts
    if stat.S_ISLNK(info.external_attr >> 16):
        return message("The file in the zip is a link; links are not followed.")
    if ".." in parts or name.startswith("/") or ":" in parts[0] or "\x00" in name:
        return message("The file's name leads out of the folder.")
    return message("The file in the zip is encrypted.") if info.flag_bits & 0x1 else ""


def _unpack_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Unpacked:
    name = info.filename.replace("\\", "/")[-LONGEST_NAME:]
    if refusal := _refusal(info, name):
        return name, b"", refusal
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
