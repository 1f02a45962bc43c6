"""Zip files: their files one by one, within bounds, whatever their directory claims.

Nothing is unpacked to a disk. What a file's head says of its size is not believed: it is read in
pieces and left when it is too large or unpacks to far more than it was. Names with `..`, a root
or a drive, links, encrypted files and archives inside of archives are refused, each by itself.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

from accounts.messages import Message, message
from memory.documents.candidates import LONGEST_NAME
from memory.documents.formats import cairn

MAGIC: Final = b"PK\x03\x04"
EMPTY: Final = b"PK\x05\x06"
MOST_FILES: Final = 5_000
MOST_OWN: Final = 50_000  # of an export of ours, which has a file a memory
LARGEST_FILE: Final = 16 * 1_048_576  # bytes unpacked
LARGEST_WHOLE: Final = 128 * 1_048_576  # bytes unpacked, of all files together
HIGHEST_RATIO: Final = 200  # unpacked to packed; text is at most some 30
SMALL: Final = 1_048_576  # bytes up to which the ratio does not matter
OWN: Final = f"---\nformat: {cairn.FORMAT}\n".encode()  # how a file of an export of ours begins
PIECE: Final = 65_536
IGNORED: Final = frozenset({"__macosx", ".git", ".obsidian", ".trash", "node_modules"})
IGNORED_NAMES: Final = frozenset({".ds_store", "thumbs.db"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file of an archive: its bytes, or why it is refused."""

    name: str
    data: bytes = b""
    fault: Message | str = ""


def is_archive(*, data: bytes) -> bool:
    """Say whether a file is a zip."""
    return data.startswith((MAGIC, EMPTY))


def members(*, data: bytes) -> Iterator[Member]:
    """Yield the files of an archive, in its order; a broken archive is one member with a fault."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            yield from _members(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError):
        yield Member(name="", fault=message("The zip is broken or of a kind that is not read."))


def _members(archive: zipfile.ZipFile) -> Iterator[Member]:
    left, most = LARGEST_WHOLE, MOST_FILES
    for number, info in enumerate(archive.infolist()):
        if number >= most:
            detail = message("The zip holds more than {most} files.", most=most)
            yield Member(name="", fault=detail)
            return
        if info.is_dir() or _is_ignored(info.filename):
            continue
        found = _member(archive, info, left)
        left -= len(found.data)
        if number == 0 and found.data.startswith(OWN):
            most = MOST_OWN
        yield found
        if left <= 0:
            detail = message("The zip unpacks to more than {most} bytes.", most=LARGEST_WHOLE)
            yield Member(name="", fault=detail)
            return


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> Member:
    name = info.filename.replace("\\", "/")[-LONGEST_NAME:]
    fault = _fault_of(info, name)
    if fault:
        return Member(name=name, fault=fault)
    try:
        return _unpacked(archive, info, name, min(LARGEST_FILE, left))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError):
        return Member(
            name=name, fault=message("The file in the zip is broken or packed in an unknown way.")
        )


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, most: int) -> Member:
    found = bytearray()
    with archive.open(info) as packed:
        while piece := packed.read(PIECE):
            found += piece
            is_bomb = len(found) > SMALL and len(found) > HIGHEST_RATIO * max(1, info.compress_size)
            if is_bomb or len(found) > most:
                detail = message("The file unpacks to more than {most} bytes.", most=len(found))
                return Member(name=name, fault=detail)
    return Member(name=name, data=bytes(found))


def _fault_of(info: zipfile.ZipInfo, name: str) -> Message | str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return message("The file in the zip is a link; links are not followed.")
    parts = PurePosixPath(name).parts
    if ".." in parts or name.startswith("/") or ":" in parts[0] or "\x00" in name:
        return message("The file's name leads out of the folder.")
    if info.flag_bits & 0x1:
        return message("The file in the zip is encrypted.")
    return ""


def _is_ignored(name: str) -> bool:
    parts = [part.lower() for part in PurePosixPath(name.replace("\\", "/")).parts]
    return bool(IGNORED & set(parts)) or bool(parts and parts[-1] in IGNORED_NAMES)
