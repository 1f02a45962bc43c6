"""The index of a project's code over REST: manifest, missing files, progress, what files define."""

import base64
import binascii
from typing import Annotated, Any, Final

from pydantic import Field

from accounts.api import schemas
from accounts.api.endpoints import Answer, Call, get, post
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from graph.code.values import LARGEST_FILE, LONGEST_PATH, MOST_FILES, Refused, Symbol
from graph.index.actions import Announced, Announcement, Sent, Taken, announce_files, take_files
from graph.index.queries import FileView, IndexView, code_index, files, symbols

LARGEST_MANIFEST: Final = 25_165_824  # bytes: 50,000 files with long paths; a default
MOST_SENT: Final = 500  # files of one call
Path = Annotated[
    schemas.Name,
    Field(max_length=LONGEST_PATH, description="From the project's folder, with slashes."),
]
Hash = Annotated[
    str,
    Field(
        min_length=64,
        max_length=64,
        description="SHA-256 of the file, in small hexadecimal digits.",
        json_schema_extra={"pattern": "^[0-9a-f]{64}$"},
    ),
]


class ManifestFile(schemas.Body):
    """A file that a project has."""

    path: Path
    hash: Hash
    size: int = Field(ge=0, le=LARGEST_FILE, description="Its bytes.")


class Manifest(schemas.Body):
    """All files of a project."""

    files: schemas.Several[ManifestFile] = Field(
        max_length=MOST_FILES,
        description="All files of the project; what is not named is gone.",
        examples=[[{"path": "shop/cart.py", "hash": "a" * 64, "size": 1200}]],
    )


class IndexFile(schemas.Body):
    """A file with its content, as text or as base64."""

    path: Path
    hash: Hash
    text: str | None = Field(
        None, max_length=LARGEST_FILE, description="What is in it, where that is UTF-8."
    )
    base64: str | None = Field(
        None, max_length=LARGEST_FILE * 4 // 3 + 4, description="What is in it, where it is not."
    )


class IndexFiles(schemas.Body):
    """Files that are missing."""

    run: schemas.Identifier = Field(
        description="The `run` that the manifest was answered with.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a90"],
    )
    files: schemas.Several[IndexFile] = Field(
        min_length=1,
        max_length=MOST_SENT,
        description="Files that are missing.",
        examples=[[{"path": "shop/cart.py", "hash": "a" * 64, "text": "def total(): ..."}]],
    )


class SymbolQuery(schemas.Query):
    """Which file is asked about."""

    file: schemas.Name = Field(
        max_length=LONGEST_PATH, description="Its path, as the list of files has it."
    )


@schemas.fields_of(Refused)
class RefusedCode(schemas.Result):
    """A file of which nothing could be read, and why."""


@schemas.fields_of(IndexView)
class CodeIndex(schemas.Result):
    """The index."""

    refused: tuple[RefusedCode, ...]


@schemas.fields_of(Announcement)
class CodeAnnounced(schemas.Result):
    """What is missing, and how many went and stayed."""

    index: CodeIndex


@schemas.fields_of(Taken)
class CodeReceived(schemas.Result):
    """What became of them."""

    refused: tuple[RefusedCode, ...]
    index: CodeIndex


@schemas.fields_of(FileView)
class CodeFile(schemas.Result):
    """A file of the index."""


@schemas.fields_of(Symbol, hidden={"parent"})
class CodeSymbol(schemas.Result):
    """What a file defines."""

    kind: str


class CodeSymbols(schemas.Result):
    """The file, and its functions, classes and more."""

    file: CodeFile
    items: tuple[CodeSymbol, ...]


@post(
    "projects/{ref}/index",
    tag="code",
    scope=TokenScope.INDEX,
    answer=CodeAnnounced,
    largest=LARGEST_MANIFEST,
    smaller="A manifest is whole: name fewer files, those of a smaller folder.",
    weighed=True,
    idempotent=False,
)
def announce_code(call: Call, body: Manifest) -> Announcement:
    """Say which files a project has.

    The manifest is whole: a file that it does not name is gone, one whose hash is other than known
    is stale at once. Send the texts of those that are missing to `…/files`. At most 50,000 files
    and 24 MiB.
    """
    announced = tuple(Announced(**dict(one)) for one in body.files)
    return announce_files(caller=call.caller, ref=call.ref, files=announced, now=call.now)


@post(
    "projects/{ref}/index/files",
    tag="code",
    scope=TokenScope.INDEX,
    answer=CodeReceived,
    status=202,
    bulk=True,
    smaller="Send fewer files in a call.",
    weighed=True,
    idempotent=False,
)
def send_code(call: Call, body: IndexFiles) -> Answer:
    """Send files that are missing.

    At most 8 MiB a call, 1 MiB a file. Each is parsed and let go of: what it defines and names is
    kept, its text is not. Those that are `waiting` could not be read within 20 seconds: send them
    again. An organization has two calls read at once; 429 says when to ask again. A job makes the
    edges.
    """
    done: Taken = take_files(
        caller=call.caller,
        ref=call.ref,
        run=body.run,
        files=tuple(_sent(n, one) for n, one in enumerate(body.files)),
        now=call.now,
    )
    return Answer(done, location=f"/api/v1/projects/{call.ref}/index")


@get("projects/{ref}/index", tag="code", answer=CodeIndex)
def get_code_index(call: Call) -> IndexView:
    """How far the index is.

    Until its state is `done`, answers about the code may be incomplete. `failed` says why in
    `reason`; the next manifest tries again.
    """
    return code_index(caller=call.caller, ref=call.ref)


@get("projects/{ref}/files", tag="code", answer=schemas.Page[CodeFile])
def list_code_files(call: Call, query: schemas.PageQuery) -> Answer:
    """List the files of a project's code.

    By path, as `cairn index` sent them.
    """
    found, last = files(caller=call.caller, ref=call.ref, after=call.after(int), limit=query.limit)
    return Answer(found, following=last or None)


@get("projects/{ref}/symbols", tag="code", answer=CodeSymbols)
def list_code_symbols(call: Call, query: SymbolQuery) -> dict[str, Any]:
    """List what a file defines.

    By line. A file that changed and has not come again says `receiving`.
    """
    file, found = symbols(caller=call.caller, ref=call.ref, path=query.file)
    return {"file": file, "items": found}


def _sent(number: int, one: IndexFile) -> Sent:
    """Read one file. Raises InvalidInput unless exactly one of its two contents is there."""
    if (one.text is None) == (one.base64 is None):
        raise wrong_field(
            pointer=f"/files/{number}/text",
            detail="Send the content of a file once, as text or as base64.",
            code="required",
        )
    try:
        coded = one.base64 or ""
        content = base64.b64decode(coded, validate=True) if one.text is None else one.text.encode()
    except (binascii.Error, ValueError) as error:
        raise wrong_field(
            pointer=f"/files/{number}/base64", detail="This is not base64.", code="base64"
        ) from error
    return Sent(path=one.path, hash=one.hash, content=content)
