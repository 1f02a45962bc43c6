"""The command that sends a project's code to be indexed: `cairn index`.

A manifest with path and hash of every file goes to the server, which answers with the files that it
lacks, and only those are sent. So a run that was cut off goes on where it stopped, and a second one
sends nothing. A manifest is whole: what it does not name is removed from the index, and what it
names is seen by all of a project. So one of another repository is not sent without a confirmation.
"""

import base64
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .. import code_files
from ..code_files import CodeFile, CodeFiles, MaskedContent
from ..errors import ClientError, Incomplete, Misused, Problem
from ..terminal import Json, Project, Terminal, check_folder, progress
from ..transcripts.reader import Row
from ..transcripts.upload import portions

if TYPE_CHECKING:
    from ..api import Client

FILES_MOST: Final = 100  # a call; the server takes 500
BYTES_MOST: Final = 2_000_000  # of JSON a call, unless one file is larger; the server takes 8 MiB
FILES_OF_A_PROJECT: Final = 50_000  # the server takes no more
IDLE_ROUNDS_MOST: Final = 3  # rounds one after the other in which the server read no file
POLL_SECONDS: Final = 0.5
STUCK_SECONDS: Final = 10 * 60  # in which an awaited index does not move; default
NAMED_MOST: Final = 3  # files that a refusal names
_REFUSED_INPUT: Final = 422
_REPLACE: Final = "cairn index --replace"

Folder = Annotated[Path | None, typer.Argument(help="A folder; this repository's else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be sent; send nothing.")]
Replace = Annotated[bool, typer.Option("--replace", help="Also where most of its files would go.")]
Wait = Annotated[bool, typer.Option("--wait", help="Until the edges are made.")]


@dataclass(slots=True, kw_only=True)
class SentFiles:
    """What became of files that the server lacked; `waiting` are those that it had no time for."""

    count: int = 0
    waiting: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    refused: list[Mapping[str, str]] = field(default_factory=list)


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
    terminal: Terminal = context.obj
    folder = (path or code_files.root_of(folder=Path.cwd())).resolve()
    if not folder.is_dir():
        raise Misused(detail=f"{folder} is no folder.")
    hint = "Go to the folder of the project, or name it."
    check_folder(terminal=terminal, folder=folder, hint=hint)
    found = code_files.find(folder=folder)
    _check(found, folder)
    if dry_run:
        _show(terminal, found)
        return
    with terminal.client(project=project, subject="Code belongs") as client:
        terminal.note(f"{client.project}: {folder}")
        if not replace:
            _check_replaced(terminal, client, found)
        answer = _announce(client, found)
        sent = _send(terminal, client, answer, found)
        state = _index_state(client, is_awaited=wait)
    _report(terminal, found, answer, sent, state)


def _check(found: CodeFiles, folder: Path) -> None:
    if not found.files:
        raise Misused(detail=f"{folder} has no file to index.")
    if len(found.files) > FILES_OF_A_PROJECT:
        raise Misused(
            detail=f"{len(found.files):,} files are more than the {FILES_OF_A_PROJECT:,} that a "
            "project takes.",
            hint="Name a folder with fewer.",
        )


def _show(terminal: Terminal, found: CodeFiles) -> None:
    for file in found.files:
        masked = f", {len(file.masked)} masked" if file.masked else ""
        terminal.show(
            row={**file.listed, "masked": dict(Counter(file.masked))},
            line=f"{file.path}  {file.size:,} bytes{masked}",
        )
    terminal.note(f"{len(found.files)} files would be looked for, nothing was sent")
    _note(terminal, found)


def _check_replaced(terminal: Terminal, client: "Client", found: CodeFiles) -> None:
    """Go on where the files are those of the project's index, or somebody confirms it.

    Raises Misused where nobody can be asked, ClientError for a no.
    """
    total = int(client.code_index(project=client.project)["files_total"])
    known = client.code_files(project=client.project) if total else ()
    loss = loss_of(known=known, total=total, found=found)
    if loss is None:
        return
    gone, count, first = loss
    detail = (
        f"The index of {client.project} would lose {gone:,} of its {count:,} files, and be given "
        f"those of {found.root}: {', '.join(first)}{', …' if gone > len(first) else ''} would go."
    )
    terminal.confirm(
        question=f"{detail} Replace it?",
        refusal=Misused(
            detail=detail,
            hint="Is this the folder of that project? Name the right one with --project, or say "
            "--replace.",
            command=_REPLACE,
        ),
        declined=ClientError(detail="Nothing was sent.", command=_REPLACE),
    )


def loss_of(
    *, known: Iterable[str], total: int, found: CodeFiles
) -> tuple[int, int, tuple[str, ...]] | None:
    """Return how many files of how many would go, and the first of them.

    None where so few files are no sign of another repository: half of what is known must be here,
    and of a part of a repository nothing else may be known.
    """
    here = found.paths
    gone: list[str] = []
    stays = 0
    for path in filter(code_files.is_code, known):
        if path not in here:
            gone.append(path)
            continue
        stays += 1
        if not found.part and stays * 2 >= total:
            return None
    foreign = [path for path in gone if not path.startswith(found.part)]
    if not foreign and stays >= len(gone):
        return None
    return len(gone), stays + len(gone), tuple((foreign or gone)[:NAMED_MOST])


def _announce(client: "Client", found: CodeFiles) -> Json:
    """Send the manifest; files that the server refuses to name are left out of it, again and again.

    Raises Problem for any other refusal, Misused where no file is left.
    """
    while True:
        try:
            manifest = [one.listed for one in found.files]
            return client.announce_code(project=client.project, files=manifest)
        except Problem as problem:
            refused = _refused(problem, len(found.files))
            if not refused:
                raise
            found.left["its path is not taken"] += len(refused)
            found.files = [file for n, file in enumerate(found.files) if n not in refused]
        _check(found, found.root)


def _refused(problem: Problem, count: int) -> frozenset[int]:
    """Return which of so many files a refusal points at."""
    if problem.status != _REFUSED_INPUT:
        return frozenset()
    parts = (fault.pointer.split("/") for fault in problem.faults)
    numbers = (part[2] for part in parts if len(part) > 3 and part[1] == "files")
    return frozenset(int(n) for n in numbers if n.isdecimal() and int(n) < count)


def _send(terminal: Terminal, client: "Client", answer: Json, found: CodeFiles) -> SentFiles:
    """Send what the server lacks, in rounds, until it has it or reads no more of it."""
    missing = frozenset(answer["missing"])
    lacked = {file.path: file for file in found.files if file.path in missing}
    sent = SentFiles()
    idle_rounds = 0
    total = sum(file.size for file in lacked.values())
    with progress(terminal=terminal, what="index", total=total) as advance:
        while lacked and idle_rounds < IDLE_ROUNDS_MOST:
            before = sent.count
            sent.waiting = []
            for batch in portions(
                rows=_rows(lacked.values(), sent), most=FILES_MOST, bytes_most=BYTES_MOST
            ):
                read = _send_batch(client, str(answer["run"]), batch, sent)
                advance(sum(lacked[path].size for path in read))
            lacked = {path: lacked[path] for path in sent.waiting}
            idle_rounds = 0 if sent.count > before else idle_rounds + 1
    return sent


def _send_batch(client: "Client", run: str, batch: list[Row], sent: SentFiles) -> list[str]:
    """Send some files; return the paths of those that the server had time to read."""
    done = client.send_code(project=client.project, run=run, files=batch)
    late = frozenset(done.get("waiting") or ())
    read = [row["path"] for row in batch if row["path"] not in late]
    sent.count += len(read)
    sent.waiting += sorted(late)
    sent.refused += done.get("refused") or []
    return read


def _rows(files: Iterable[CodeFile], sent: SentFiles) -> Iterator[Row]:
    """Yield files as they are sent; not those that changed since they were looked at."""
    for file in files:
        content = code_files.read(source=file.source)
        if not isinstance(content, MaskedContent) or content.hash != file.hash:
            sent.changed.append(file.path)
            continue
        try:
            body = {"text": content.data.decode()}
        except UnicodeDecodeError:
            body = {"base64": base64.b64encode(content.data).decode()}
        yield {"path": file.path, "hash": file.hash, **body}


def _index_state(client: "Client", *, is_awaited: bool) -> Json:
    """Return how far the index is, or will be when nothing is under way.

    Raises ClientError where it is awaited and nothing becomes of it.
    """
    state = client.code_index(project=client.project)
    moved_at = time.monotonic()
    while is_awaited and state["state"] == "resolving":
        if time.monotonic() - moved_at >= STUCK_SECONDS:
            raise ClientError(
                detail=f"The edges are not made, and nothing moved for {STUCK_SECONDS // 60} min.",
                hint="Is a worker running there? The files are kept; nothing has to be sent again.",
                command="cairn index --wait",
            )
        time.sleep(POLL_SECONDS)
        before, state = state, client.code_index(project=client.project)
        moved_at = moved_at if state == before else time.monotonic()
    return state


def _report(
    terminal: Terminal, found: CodeFiles, answer: Json, sent: SentFiles, state: Json
) -> None:
    """Report what was done. Raises ClientError for what was not."""
    row = {
        "files": len(found.files),
        "sent": sent.count,
        "kept": answer["kept"],
        "gone": answer["gone"],
        "refused": sent.refused,
        "changed": sent.changed,
        "waiting": sent.waiting,
        "left": dict(found.left),
        "masked": dict(found.masked),
        "state": state["state"],
    }
    line = "{files} files: {sent} sent, {kept} known, {gone} gone; {state}".format(**row)
    terminal.show(row=row, line=line)
    for one in sent.refused:
        terminal.note(f"{one['path']}: {one['reason']}")
    _note(terminal, found)
    if state["state"] == "failed" and not sent.waiting:
        raise ClientError(
            detail=f"The edges could not be made: {state.get('reason') or 'no reason is known'}",
            hint="The files are kept. Run it again, or ask who runs the server.",
            command="cairn index --wait",
        )
    if sent.waiting or sent.changed:
        detail = (
            f"The server had no time to read {len(sent.waiting)} files."
            if sent.waiting
            else f"{len(sent.changed)} files changed while they were sent."
        )
        raise Incomplete(detail=detail, hint="The next run sends them.", command="cairn index")


def _note(terminal: Terminal, found: CodeFiles) -> None:
    """Write what stays here, and what was masked."""
    for what, counts in (("left out", found.left), ("taken out before sent", found.masked)):
        if counts:
            named = ", ".join(f"{count} {name}" for name, count in counts.most_common())
            terminal.note(f"{what}: {named}")
