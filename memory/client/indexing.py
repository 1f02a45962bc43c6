"""The command that sends a project's code to be indexed: `cairn index`.

The server is told path and hash of every file, says which it lacks, and only those travel. So a run
that was cut off goes on where it stopped, and a second one sends nothing.
"""

import base64
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from . import code_files, replacing, repository
from .asking import Project
from .code_files import CodeFile, Content, Found
from .errors import ClientError, Incomplete, Misused, Problem
from .terminal import Desk, progress

if TYPE_CHECKING:
    from .api import Client

FILES_MOST: Final = 100  # a call; the server takes 500
BYTES_MOST: Final = 2_000_000  # of JSON a call, unless one file is larger; the server takes 8 MiB
FILES_OF_A_PROJECT: Final = 50_000  # the server takes no more
IN_VAIN_MOST: Final = 3  # rounds one after the other of which the server read no file
LOOK_AGAIN_SECONDS: Final = 0.5
STUCK_SECONDS: Final = 10 * 60  # in which nothing of an awaited index moves; ours
_REFUSED_INPUT: Final = 422
_HELP: Final = "cairn index --help"

Row = dict[str, str]
Folder = Annotated[Path | None, typer.Argument(help="A folder; this repository's else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be sent; send nothing.")]
Replace = Annotated[bool, typer.Option("--replace", help="Also where most of its files would go.")]
Wait = Annotated[bool, typer.Option("--wait", help="Until the edges are made.")]


@dataclass(slots=True, kw_only=True)
class Sending:
    """What became of files that the server lacked; `waiting` are those that it had no time for."""

    sent: int = 0
    waiting: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    refused: list[Mapping[str, str]] = field(default_factory=list)


def register(*, app: typer.Typer) -> None:
    """Add the command."""
    app.command()(index)


def index(
    context: typer.Context,
    path: Folder = None,
    project: Project = "",
    dry_run: DryRun = False,
    wait: Wait = False,
    replace: Replace = False,
) -> None:
    """Send the code of a project to be indexed; of what the server knows already, nothing travels.

    What files define and name is kept there, their text is not. Secrets are taken out on this
    machine before anything is sent.
    """
    desk: Desk = context.obj
    folder = _folder(desk, path)
    found = code_files.find(folder=folder)
    _check(found, folder)
    if dry_run:
        _show(desk, found)
        return
    connection = desk.connection(project=project)
    if not connection.project:
        raise Misused(
            detail="Code belongs to a project, and none is named.",
            hint="Name it with --project, or once and for all when you log in.",
            command="cairn status",
        )
    desk.note(f"{connection.project}: {folder}")
    with desk.client(connection=connection) as client:
        if not replace:
            replacing.check(desk=desk, client=client, project=connection.project, found=found)
        told = _announced(client, connection.project, found)
        sending = _send(desk, client, connection.project, told, found.files)
        state = _standing(client, connection.project, is_awaited=wait)
    _tell(desk, found, told, sending, state)


def _folder(desk: Desk, path: Path | None) -> Path:
    """Return the folder to index. Raises Misused for none, and for one that holds everything."""
    folder = (path or repository.root_of(folder=Path.cwd())).resolve()
    if not folder.is_dir():
        raise Misused(detail=f"{folder} is no folder.", command=_HELP)
    if desk.places.home.resolve().is_relative_to(folder):
        raise Misused(
            detail=f"{folder} holds all of your work, and no one project.",
            hint="Go to the folder of the project, or name it.",
            command=_HELP,
        )
    return folder


def _check(found: Found, folder: Path) -> None:
    if not found.files:
        raise Misused(detail=f"{folder} has no file to index.", command=_HELP)
    if len(found.files) > FILES_OF_A_PROJECT:
        raise Misused(
            detail=f"{len(found.files):,} files are more than the {FILES_OF_A_PROJECT:,} that a "
            "project takes.",
            hint="Name a folder with fewer.",
            command=_HELP,
        )


def _show(desk: Desk, found: Found) -> None:
    for file in found.files:
        masked = f", {len(file.masked)} masked" if file.masked else ""
        desk.show(
            row={
                "path": file.path,
                "hash": file.hash,
                "size": file.size,
                "masked": dict(Counter(file.masked)),
            },
            line=f"{file.path}  {file.size:,} bytes{masked}",
        )
    desk.note(f"{len(found.files)} files would be looked for, nothing was sent")
    _note(desk, found)


def _announced(client: "Client", project: str, found: Found) -> Mapping[str, Any]:
    """Send the manifest; files that the server refuses to name are left out of it, again and again.

    Raises Problem for any other refusal, Misused where no file is left.
    """
    while True:
        try:
            return client.announce_code(project=project, files=_manifest(found))
        except Problem as problem:
            refused = _refused(problem, len(found.files))
            if not refused:
                raise
            found.left["its path is not taken"] += len(refused)
            found.files = [file for n, file in enumerate(found.files) if n not in refused]
        _check(found, found.root)


def _manifest(found: Found) -> list[Mapping[str, object]]:
    return [{"path": one.path, "hash": one.hash, "size": one.size} for one in found.files]


def _refused(problem: Problem, count: int) -> frozenset[int]:
    """Return which of so many files a refusal points at."""
    if problem.status != _REFUSED_INPUT:
        return frozenset()
    parts = (fault.pointer.split("/") for fault in problem.faults)
    numbers = (part[2] for part in parts if len(part) > 3 and part[1] == "files")
    return frozenset(int(n) for n in numbers if n.isdecimal() and int(n) < count)


def _send(
    desk: Desk,
    client: "Client",
    project: str,
    told: Mapping[str, Any],
    files: Sequence[CodeFile],
) -> Sending:
    missing = frozenset(told["missing"])
    lacked = [file for file in files if file.path in missing]
    sending = Sending()
    in_vain = 0
    with progress(desk=desk, what="index", total=sum(file.size for file in lacked)) as advance:
        while lacked and in_vain < IN_VAIN_MOST:
            before = sending.sent
            waiting: set[str] = set()
            for batch, size in _batches(_read(lacked, sending)):
                done = client.send_code(project=project, run=str(told["run"]), files=batch)
                late = frozenset(done.get("waiting") or ())
                waiting |= late
                sending.sent += len(batch) - len(late)
                sending.refused += done.get("refused") or []
                advance(0 if late else size)
            lacked = [file for file in lacked if file.path in waiting]
            in_vain = 0 if sending.sent > before else in_vain + 1
    sending.waiting += [file.path for file in lacked]
    return sending


def _read(files: Sequence[CodeFile], sending: Sending) -> Iterator[tuple[Row, int]]:
    """Yield files as they are sent, and their bytes; not those that changed since."""
    for file in files:
        content = code_files.read(source=file.source)
        if isinstance(content, Content) and _hash(content) == file.hash:
            yield {"path": file.path, "hash": file.hash, **_body(content.data)}, file.size
        else:
            sending.changed.append(file.path)


def _hash(content: Content) -> str:
    return hashlib.sha256(content.data).hexdigest()


def _body(data: bytes) -> Row:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _batches(files: Iterator[tuple[Row, int]]) -> Iterator[tuple[list[Row], int]]:
    """Yield files that fit into a call, and their bytes."""
    batch: list[Row] = []
    size = written = 0
    for row, bytes_of_file in files:
        length = len(json.dumps(row, ensure_ascii=False).encode())
        if batch and (len(batch) == FILES_MOST or written + length > BYTES_MOST):
            yield batch, size
            batch, size, written = [], 0, 0
        batch.append(row)
        size, written = size + bytes_of_file, written + length
    if batch:
        yield batch, size


def _standing(client: "Client", project: str, *, is_awaited: bool) -> Mapping[str, Any]:
    """Return how far the index is, or will be when nothing is under way.

    Raises ClientError where it is awaited and nothing becomes of it.
    """
    told = client.code_index(project=project)
    moved_at = time.monotonic()
    while is_awaited and told["state"] == "resolving":
        if time.monotonic() - moved_at >= STUCK_SECONDS:
            raise ClientError(
                detail=f"The edges are not made, and nothing moved for {STUCK_SECONDS // 60} min.",
                hint="Is a worker running there? The files are kept; nothing has to be sent again.",
                command="cairn index --wait",
            )
        time.sleep(LOOK_AGAIN_SECONDS)
        before, told = told, client.code_index(project=project)
        moved_at = moved_at if told == before else time.monotonic()
    return told


def _tell(
    desk: Desk,
    found: Found,
    told: Mapping[str, Any],
    sending: Sending,
    state: Mapping[str, Any],
) -> None:
    row = {
        "files": len(found.files),
        "sent": sending.sent,
        "kept": told["kept"],
        "gone": told["gone"],
        "refused": list(sending.refused),
        "changed": sending.changed,
        "waiting": sending.waiting,
        "left": dict(found.left),
        "masked": dict(found.masked),
        "state": state["state"],
    }
    desk.show(
        row=row,
        line=(
            f"{len(found.files)} files: {sending.sent} sent, {told['kept']} known, "
            f"{told['gone']} gone; {state['state']}"
        ),
    )
    for one in sending.refused:
        desk.note(f"{one['path']}: {one['reason']}")
    _note(desk, found)
    if sending.waiting:
        raise Incomplete(
            detail=f"The server had no time to read {len(sending.waiting)} files.",
            hint="The next run sends them.",
            command="cairn index",
        )
    if state["state"] == "failed":
        raise ClientError(
            detail=f"The edges could not be made: {state.get('reason') or 'no reason is told'}",
            hint="The files are kept. Run it again, or ask who runs the server.",
            command="cairn index --wait",
        )
    if sending.changed:
        raise Incomplete(
            detail=f"{len(sending.changed)} files changed while they were sent.",
            hint="The next run sends them.",
            command="cairn index",
        )


def _note(desk: Desk, found: Found) -> None:
    """Tell what stays here, and what was taken out."""
    if found.left:
        reasons = ", ".join(f"{count} {reason}" for reason, count in found.left.most_common())
        desk.note(f"left out: {reasons}")
    if found.masked:
        kinds = ", ".join(f"{count} {kind}" for kind, count in found.masked.most_common())
        desk.note(f"taken out before sending: {kinds}")
