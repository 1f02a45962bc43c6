"""Files of other tools, as tests hand them in: a zip, a database of memory-v3."""

import io
import sqlite3
import zipfile

from memory.documents import reading
from memory.documents.file_formats import DocumentReading


def read(*, name: str, data: bytes) -> DocumentReading:
    """Read one upload, a file or a zip of files."""
    return reading.read_all(files=((name, data),))


def zipped(**files: bytes | str) -> bytes:
    """Return a zip of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def database(*rows: tuple[object, ...], wal: bool = False) -> bytes:
    """Return a database of memory-v3 with these rows; `wal` as one that was not closed."""
    with sqlite3.connect(":memory:") as base:
        base.execute(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, content_type TEXT,"
            " tags TEXT, confidence REAL, created_at TEXT, archived INTEGER, linked_memories TEXT)"
        )
        base.executemany("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        base.commit()
        data = base.serialize()
    return data[:18] + b"\x02\x02" + data[20:] if wal else data
