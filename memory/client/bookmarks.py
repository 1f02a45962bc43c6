"""How far each transcript was sent, so that the next time goes on from there.

A bookmark is one small file for a server, a project and a session. It is written after the server
has taken a batch, so a run that is cut off sends at most one batch again, which changes nothing. It
names the session until that has ended, so a run that was cut off before is ended by the next.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from . import configuration, reading, transcripts
from .finding import Transcript
from .reading import START, Place

HEAD: Final = 512  # bytes at the start of a file, by which it is known again


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """How far a transcript was sent, and the session of it that has not ended; empty for none.

    `part` counts its sessions, of which one that is full goes on in the next. `ranks` are those of
    its subagents, by the names of their files: once given they stay, since sequence numbers follow
    from them.
    """

    place: Place = START
    session_id: str = ""
    part: int = 1
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The bookmarks of one server and one project."""

    folder: Path
    url: str
    project: str

    def find(self, *, transcript: Transcript) -> Bookmark:
        """Return how far a transcript was sent; the start, where it is another file now."""
        told = self._told(transcript)
        given = told.get("ranks")
        ranks = given if isinstance(given, dict) else {}
        fresh = Bookmark(ranks={name: one for name, one in ranks.items() if type(one) is int})
        if told.get("head") != _head(transcript):
            return fresh
        place = reading.from_json(told=told.get("place"))
        if place.offset > transcript.size:
            return fresh
        session_id = transcripts.text_of(told, "session")
        return replace(fresh, place=place, session_id=session_id, part=_part(told.get("part")))

    def is_begun(self, *, transcript: Transcript) -> bool:
        """Say whether anything of a transcript was sent to a session that has not ended."""
        return bool(transcripts.text_of(self._told(transcript), "session"))

    def keep(self, *, transcript: Transcript, mark: Bookmark) -> None:
        """Note that everything before a place was taken, and which session has not ended."""
        told = {
            "path": str(transcript.path),
            "head": _head(transcript),
            "place": reading.as_json(place=mark.place),
            "session": mark.session_id,
            "part": mark.part,
            "ranks": dict(mark.ranks),
        }
        data, mode = json.dumps(told).encode(), configuration.FILE_MODE
        configuration.replace(path=self._file(transcript), data=data, mode=mode)

    def _told(self, transcript: Transcript) -> Mapping[str, Any]:
        """Return what was written down; nothing where that is not to be used."""
        try:
            told = json.loads(self._file(transcript).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}

    def _file(self, transcript: Transcript) -> Path:
        parts = "\n".join((self.url, self.project, transcript.key))
        name = hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
        return self.folder / f"{name}.json"


def _part(told: object) -> int:
    return told if type(told) is int and told > 1 else 1


def _head(transcript: Transcript) -> str:
    """Return what tells a file from another; a parser that reads anew counts as another."""
    with transcript.path.open("rb") as file:
        start = file.readline(HEAD)
    version = str(transcript.source.version).encode()
    return hashlib.blake2b(version + b"\n" + start, digest_size=16).hexdigest()
