"""The index of a project's code over REST: manifest, missing files, progress."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import ID, MOMENT, TEXT, WHOLE, maybe, record, ref, several
from accounts.api.shapes import Field, Identifier, Record, Several, Text, Whole
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from graph.code.manifest import LARGEST_FILE, LONGEST_PATH, MOST_FILES, Announced
from graph.index.announce_files import Announcement, announce_files
from graph.index.queries import IndexView, State, code_index
from graph.index.take_files import Sent, Taken, take_files

LARGEST_MANIFEST: Final = 25_165_824  # bytes: 50,000 files with long paths; ours
MOST_SENT: Final = 500  # files of one call
_PATH: Final = Field(
    name="path",
    shape=Text(largest=LONGEST_PATH, smallest=1),
    says="From the project's folder, with slashes.",
    required=True,
)
_HASH: Final = Field(
    name="hash",
    shape=Text(largest=64, smallest=64, form="[0-9a-f]{64}"),
    says="SHA-256 of the file, in small hexadecimal digits.",
    required=True,
)
MANIFEST: Final = Record(
    name="Manifest",
    fields=(
        Field(
            name="files",
            shape=Several(
                of=Record(
                    name="ManifestFile",
                    fields=(
                        _PATH,
                        _HASH,
                        Field(
                            name="size",
                            shape=Whole(smallest=0, largest=LARGEST_FILE),
                            says="Its bytes.",
                            required=True,
                        ),
                    ),
                ),
                largest=MOST_FILES,
            ),
            says="All files of the project; what is not named is gone.",
            required=True,
        ),
    ),
)
FILES: Final = Record(
    name="IndexFiles",
    fields=(
        Field(
            name="run",
            shape=Identifier(),
            says="The `run` that the manifest was answered with.",
            required=True,
        ),
        Field(
            name="files",
            shape=Several(
                of=Record(
                    name="IndexFile",
                    fields=(
                        _PATH,
                        _HASH,
                        Field(
                            name="text",
                            shape=Text(largest=LARGEST_FILE),
                            says="What is in it, where that is UTF-8.",
                        ),
                        Field(
                            name="base64",
                            shape=Text(largest=LARGEST_FILE * 4 // 3 + 4),
                            says="What is in it, where it is not.",
                        ),
                    ),
                ),
                largest=MOST_SENT,
                smallest=1,
            ),
            says="Files that are missing.",
            required=True,
        ),
    ),
)
_RUN: Final = "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a90"
_STANDING: Final[Mapping[str, Any]] = {
    "state": "resolving",
    "reason": "",
    "run": _RUN,
    "files_done": 2,
    "files_total": 2,
    "languages": {"python": 2},
    "refused": [],
    "refused_total": 0,
    "figures": {"symbols": 40, "edges": 120, "unresolved": 30},
    "indexed_at": None,
}
_ANNOUNCED: Final[Mapping[str, Any]] = {
    "run": _RUN,
    "missing": ["shop/cart.py"],
    "gone": 0,
    "kept": 1,
    "job_id": None,
    "index": {**_STANDING, "state": "receiving", "files_done": 1},
}
_TAKEN: Final[Mapping[str, Any]] = {
    "indexed": 1,
    "known": 0,
    "refused": [],
    "waiting": [],
    "job_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a91",
    "index": _STANDING,
}
_REFUSED: Final = several(record(path=TEXT, reason=TEXT))
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "CodeIndex": record(
        state={"type": "string", "enum": [state.value for state in State]},
        reason=TEXT,
        run=maybe(ID),
        files_done=WHOLE,
        files_total=WHOLE,
        languages={"type": "object", "additionalProperties": WHOLE},
        refused=_REFUSED,
        refused_total=WHOLE,
        figures={"type": "object", "additionalProperties": WHOLE},
        indexed_at=maybe(MOMENT),
    ),
    "CodeAnnounced": record(
        run=ID,
        missing=several(TEXT),
        gone=WHOLE,
        kept=WHOLE,
        job_id=maybe(ID),
        index=ref("CodeIndex"),
    ),
    "CodeReceived": record(
        indexed=WHOLE,
        known=WHOLE,
        refused=_REFUSED,
        waiting=several(TEXT),
        job_id=maybe(ID),
        index=ref("CodeIndex"),
    ),
}


def announce(ask: Ask) -> Answer:
    """Take a manifest and say what is missing."""
    files = tuple(Announced(**one) for one in ask.body["files"])
    done = announce_files(caller=ask.caller, ref=ask.path["ref"], files=files, now=ask.now)
    return Answer(body=_announced(done))


def take(ask: Ask) -> Answer:
    """Take files that are missing."""
    done = take_files(
        caller=ask.caller,
        ref=ask.path["ref"],
        run=ask.body["run"],
        files=tuple(_sent(n, one) for n, one in enumerate(ask.body["files"])),
        now=ask.now,
    )
    location = f"/api/v1/projects/{ask.path['ref']}/index"
    return Answer(status=202, body=_taken(done), location=location)


def look(ask: Ask) -> Answer:
    """Say how far the index is."""
    return Answer(body=_shown(code_index(caller=ask.caller, ref=ask.path["ref"])))


def _sent(number: int, one: Mapping[str, Any]) -> Sent:
    """Read one file. Raises InvalidInput unless exactly one of its two contents is there."""
    text, coded = one["text"], one["base64"]
    if (text is None) == (coded is None):
        raise wrong_field(
            pointer=f"/files/{number}/text",
            detail="Send the content of a file once, as text or as base64.",
            code="required",
        )
    content = text.encode() if text is not None else _decoded(number, coded)
    return Sent(path=one["path"], hash=one["hash"], content=content)


def _decoded(number: int, coded: str) -> bytes:
    try:
        return base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise wrong_field(
            pointer=f"/files/{number}/base64", detail="This is not base64.", code="base64"
        ) from error


def _shown(view: IndexView) -> dict[str, Any]:
    return {
        "state": view.state.value,
        "reason": view.reason,
        "run": view.run,
        "files_done": view.files_done,
        "files_total": view.files_total,
        "languages": dict(view.languages),
        "refused": [{"path": one.path, "reason": one.reason} for one in view.refused],
        "refused_total": view.refused_total,
        "figures": dict(view.figures),
        "indexed_at": view.indexed_at,
    }


def _announced(done: Announcement) -> dict[str, Any]:
    return {
        "run": done.run,
        "missing": done.missing,
        "gone": done.gone,
        "kept": done.kept,
        "job_id": done.job_id,
        "index": _shown(done.view),
    }


def _taken(done: Taken) -> dict[str, Any]:
    return {
        "indexed": done.indexed,
        "known": done.known,
        "refused": [{"path": one.path, "reason": one.reason} for one in done.refused],
        "waiting": done.waiting,
        "job_id": done.job_id,
        "index": _shown(done.view),
    }


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="projects/{ref}/index",
        name="announce_code",
        tag="code",
        summary="Say which files a project has",
        says=(
            "The manifest is whole: a file that it does not name is gone, one whose hash is other "
            "than known is stale at once. Send the texts of those that are missing to `…/files`. "
            "At most 50,000 files and 24 MiB."
        ),
        scope=TokenScope.INDEX,
        run=announce,
        body=MANIFEST,
        example={"files": [{"path": "shop/cart.py", "hash": "a" * 64, "size": 1200}]},
        largest=LARGEST_MANIFEST,
        smaller="A manifest is whole: name fewer files, those of a smaller folder.",
        weighed=True,
        replies=(
            Reply(
                status=200,
                says="What is missing, and how many went and stayed.",
                schema="CodeAnnounced",
                example=_ANNOUNCED,
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="projects/{ref}/index/files",
        name="send_code",
        tag="code",
        summary="Send files that are missing",
        says=(
            "At most 8 MiB a call, 1 MiB a file. Each is parsed and let go of: what it defines and "
            "names is kept, its text is not. Those that are `waiting` could not be read within 20 "
            "seconds: send them again. An organization has two calls read at once; 429 says when "
            "to ask again. A job makes the edges."
        ),
        scope=TokenScope.INDEX,
        run=take,
        body=FILES,
        example={
            "run": _RUN,
            "files": [{"path": "shop/cart.py", "hash": "a" * 64, "text": "def total(): ..."}],
        },
        bulk=True,
        smaller="Send fewer files in a call.",
        weighed=True,
        replies=(
            Reply(
                status=202,
                says="What became of them.",
                schema="CodeReceived",
                example=_TAKEN,
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="projects/{ref}/index",
        name="get_code_index",
        tag="code",
        summary="How far the index is",
        says=(
            "Until its state is `done`, answers about the code may be incomplete. `failed` says "
            "why in `reason`; the next manifest tries again."
        ),
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="The index.", schema="CodeIndex", example=_STANDING),),
    ),
)
