"""Commands that hand in and take out: add, import, export."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .asking import Project
from .errors import ClientError, Incomplete, Misused
from .terminal import Desk, progress, shortened
from .values import Batch

if TYPE_CHECKING:
    from .api import Client

BULK: Final = 500  # memories a call; the server takes 1,000
LARGEST_FILE: Final = 64 * 1024 * 1024  # bytes that are read of a file, ours
LOOK_AGAIN_SECONDS: Final = 0.5
REFUSED: Final = frozenset({"refused", "error"})
_RUNNING: Final = frozenset({"queued", "running"})
_FORMATS: Final = ("json", "ndjson", "markdown", "csv", "claude")


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(add)
    app.command(name="import")(take_in)
    app.command(name="export")(take_out)


def add(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="The memory; - reads stdin.")] = None,
    project: Project = "",
    kind: Annotated[str, typer.Option("--type", help="Its type; told by its words else.")] = "",
    tags: Annotated[str, typer.Option(help="Tags, separated by commas.")] = "",
    files: Annotated[str, typer.Option(help="Files it is about, separated by commas.")] = "",
    lines: Annotated[bool, typer.Option("--lines", help="Each line of stdin is one.")] = False,
) -> None:
    """Hand in a memory, or one a line of stdin."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    fields = {
        "type": kind or None,
        "tags": _listed(tags) or None,
        "related_files": _listed(files) or None,
    }
    given = {name: value for name, value in fields.items() if value}
    with desk.client(connection=connection) as client:
        if lines:
            _add_lines(desk, client, given, connection.project)
            return
        content = " ".join(words or ())
        if content in {"", "-"}:
            content = sys.stdin.read()
        done = client.add(content=content.strip(), project=connection.project, **given)
    told = shortened(text=done.memory.content) if done.memory else done.reason
    desk.show(row=done.told, line=f"{done.outcome}: {told}")


def _add_lines(desk: Desk, client: "Client", given: Mapping[str, object], project: str) -> None:
    refused = 0
    contents = (line.strip() for line in sys.stdin if line.strip())
    for portion in _portions(contents):
        memories = [{"content": content, **given} for content in portion]
        outcomes = client.add_all(memories=memories, project=project)
        for content, done in zip(portion, outcomes, strict=True):
            refused += done.outcome in REFUSED
            reason = f" ({done.reason})" if done.outcome in REFUSED else ""
            line = f"{done.outcome}: {shortened(text=content)}{reason}"
            desk.show(row=done.told, line=line)
    if refused:
        raise Incomplete(
            detail=f"{refused} of the memories were refused.",
            hint="Each line says why.",
            command="cairn add --help",
        )


def take_in(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files; - reads stdin.")],
    project: Project = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is done.")] = True,
) -> None:
    """Take in files of memories: Markdown, JSON, JSON lines, exports of ours and of others."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    failed = 0
    with desk.client(connection=connection) as client:
        for path in paths:
            name, data = _file(path)
            if dry_run:
                seen = client.preview_import(name=name, data=data, project=connection.project)
                counts = seen.get("counts", {})
                desk.show(row=seen, line=f"{name}: {seen.get('total', 0)} · {_told(counts)}")
                continue
            batch = client.begin_import(name=name, data=data, project=connection.project)
            if wait:
                batch = _awaited(desk, client, batch)
            failed += batch.state == "failed"
            line = f"{name}: {batch.state} · {_told(batch.counts)} {batch.error}".rstrip()
            desk.show(row=batch.told, line=line)
    if failed:
        raise Incomplete(
            detail=f"{failed} of {len(paths)} files failed.", command="cairn import --help"
        )


def take_out(
    context: typer.Context,
    form: Annotated[str, typer.Option("--format", help=" | ".join(_FORMATS))] = "ndjson",
    output: Annotated[Path, typer.Option("--output", "-o", help="A file; - is stdout.")] = Path(
        "-"
    ),
    project: Project = "",
    query: Annotated[str, typer.Option("--query", help="Filters; is:any for all.")] = "",
) -> None:
    """Take out what you may see, as a file or to stdout."""
    desk: Desk = context.obj
    if form not in _FORMATS:
        raise Misused(
            detail=f"{form} is no format of exports.",
            hint=f"Formats: {', '.join(_FORMATS)}.",
            command="cairn export --help",
        )
    connection = desk.connection(project=project)
    with (
        desk.client(connection=connection) as client,
        client.export(form=form, project=connection.project, query=query) as parts,
        progress(desk=desk, what="export", total=0) as advance,
    ):
        size = _written(output, _measured(parts, advance))
    desk.note(f"{size:,} bytes")


def _measured(parts: Iterable[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    for part in parts:
        advance(len(part))
        yield part


def _written(output: Path, parts: Iterator[bytes]) -> int:
    """Write to a file that is there when it is whole, or to stdout; return the bytes."""
    if str(output) == "-":
        size = sum(sys.stdout.buffer.write(part) for part in parts)
        sys.stdout.flush()
        return size
    partial = output.with_name(f"{output.name}.part")
    try:
        with partial.open("wb") as file:
            size = sum(file.write(part) for part in parts)
        partial.replace(output)
    except OSError as error:
        raise ClientError(
            detail=f"{output} cannot be written: {error.strerror}", command="cairn export --help"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return size


def _awaited(desk: Desk, client: "Client", batch: Batch) -> Batch:
    """Look until an import has ended, and show how many of its statements are done."""
    done = 0
    with progress(desk=desk, what="import", total=batch.total, of_bytes=False) as advance:
        while batch.state in _RUNNING:
            advance(_done(batch) - done)
            done = _done(batch)
            time.sleep(LOOK_AGAIN_SECONDS)
            batch = client.batch(batch_id=batch.id)
    return batch


def _done(batch: Batch) -> int:
    return sum(count for outcome, count in batch.counts.items() if outcome != "waiting")


def _file(path: Path) -> tuple[str, bytes]:
    """Return a file's name and content. Raises Misused for what cannot be read."""
    if str(path) == "-":
        return "stdin", sys.stdin.buffer.read(LARGEST_FILE + 1)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise Misused(detail=f"{path} is too large.", command="cairn import --help")
        return path.name, path.read_bytes()
    except OSError as error:
        raise Misused(
            detail=f"{path} cannot be read: {error.strerror}", command="cairn import --help"
        ) from error


def _portions(contents: Iterator[str]) -> Iterator[list[str]]:
    while portion := list(islice(contents, BULK)):
        yield portion


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _told(counts: object) -> str:
    pairs = counts.items() if isinstance(counts, dict) else ()
    return ", ".join(f"{count} {name}" for name, count in pairs) or "nothing"
