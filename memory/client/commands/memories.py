"""Commands that hand in and take out memories: add, import, export."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..errors import ClientError, Incomplete, Misused
from ..terminal import Project, Terminal, listed, progress, read_file, shortened
from ..values import ImportBatch

if TYPE_CHECKING:
    from ..api import Client

BULK: Final = 500  # memories a call; the server takes 1,000
FILE_MOST: Final = 64 * 1024 * 1024  # bytes of a file; default, not measured
POLL_SECONDS: Final = 0.5
REFUSED: Final = frozenset({"refused", "error"})
_RUNNING: Final = frozenset({"queued", "running"})
_FORMATS: Final = ("json", "ndjson", "markdown", "csv", "claude")
_STDIN: Final = Path("-")


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
    terminal: Terminal = context.obj
    fields = {"type": kind, "tags": listed(text=tags), "related_files": listed(text=files)}
    given: dict[str, Any] = {name: value for name, value in fields.items() if value}
    with terminal.client(project=project) as client:
        if lines:
            _add_lines(terminal, client, given)
            return
        content = " ".join(words or ())
        if content in {"", "-"}:
            content = sys.stdin.read()
        done = client.add(content=content.strip(), **given)
    detail = shortened(text=done.memory.content) if done.memory else done.reason
    terminal.show(row=done.raw, line=f"{done.outcome}: {detail}")


def _add_lines(terminal: Terminal, client: "Client", given: Mapping[str, Any]) -> None:
    refused = 0
    contents = (line.strip() for line in sys.stdin if line.strip())
    while portion := list(islice(contents, BULK)):
        memories = [{"content": content, **given} for content in portion]
        outcomes = client.add_all(memories=memories)
        for content, done in zip(portion, outcomes, strict=True):
            refused += done.outcome in REFUSED
            reason = f" ({done.reason})" if done.outcome in REFUSED else ""
            line = f"{done.outcome}: {shortened(text=content)}{reason}"
            terminal.show(row=done.raw, line=line)
    if refused:
        raise Incomplete(
            detail=f"{refused} of the memories were refused.",
            hint="Each line says why.",
            command="cairn add --help",
        )


def import_files(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files; - reads stdin.")],
    project: Project = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is done.")] = True,
) -> None:
    """Take in files of memories: Markdown, JSON, JSON lines, exports of ours and of others."""
    terminal: Terminal = context.obj
    failed = 0
    with terminal.client(project=project) as client:
        for path in paths:
            name = "stdin" if path == _STDIN else path.name
            data = read_file(path=path, most=FILE_MOST, command="cairn import --help")
            if dry_run:
                preview = client.preview_import(name=name, data=data)
                line = f"{preview.get('total', 0)} · {_counts(preview.get('counts'))}"
                terminal.show(row=preview, line=f"{name}: {line}")
                continue
            batch = client.begin_import(name=name, data=data)
            if wait:
                batch = _wait(terminal, client, batch)
            failed += batch.state == "failed"
            line = f"{name}: {batch.state} · {_counts(batch.counts)} {batch.error}".rstrip()
            terminal.show(row=batch.raw, line=line)
    if failed:
        raise Incomplete(
            detail=f"{failed} of {len(paths)} files failed.", command="cairn import --help"
        )


def export(
    context: typer.Context,
    form: Annotated[str, typer.Option("--format", help=" | ".join(_FORMATS))] = "ndjson",
    output: Annotated[Path, typer.Option("--output", "-o", help="A file; - is stdout.")] = _STDIN,
    project: Project = "",
    query: Annotated[str, typer.Option("--query", help="Filters; is:any for all.")] = "",
) -> None:
    """Take out what you may see, as a file or to stdout."""
    terminal: Terminal = context.obj
    if form not in _FORMATS:
        raise Misused(
            detail=f"{form} is no format of exports.",
            hint=f"Formats: {', '.join(_FORMATS)}.",
            command="cairn export --help",
        )
    with (
        terminal.client(project=project) as client,
        client.export(form=form, query=query) as parts,
        progress(terminal=terminal, what="export", total=0) as advance,
    ):
        size = _write(output, _measured(parts, advance))
    terminal.note(f"{size:,} bytes")


def _measured(parts: Iterable[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    for part in parts:
        advance(len(part))
        yield part


def _write(output: Path, parts: Iterable[bytes]) -> int:
    """Write to a file that is there when it is whole, or to stdout; return the bytes."""
    if output == _STDIN:
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


def _wait(terminal: Terminal, client: "Client", batch: ImportBatch) -> ImportBatch:
    """Poll until an import has ended, and show how many of its statements are done."""
    shown = 0
    with progress(terminal=terminal, what="import", total=batch.total, of_bytes=False) as advance:
        while batch.state in _RUNNING:
            done = sum(count for outcome, count in batch.counts.items() if outcome != "waiting")
            advance(done - shown)
            shown = done
            time.sleep(POLL_SECONDS)
            batch = client.batch(batch_id=batch.id)
    return batch


def _counts(counts: object) -> str:
    pairs = counts.items() if isinstance(counts, dict) else ()
    return ", ".join(f"{count} {name}" for name, count in pairs) or "nothing"
