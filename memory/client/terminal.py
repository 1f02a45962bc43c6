"""What the command line says and where: results to stdout, everything else to stderr.

With `--json` a result is one object a line and a fault one object on stderr. Tables and progress
are drawn on a terminal alone; `NO_COLOR` is kept. Rich and httpx take longer to load than most
commands to run, so they are loaded where they are used.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

from . import configuration
from .configuration import Connection, Places
from .errors import ClientError, Problem

if TYPE_CHECKING:
    from .api import Client

LINE_MOST: Final = 100  # characters of a memory in a line of a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One run of the command line: what was asked for, and how it is to be told."""

    places: Places
    environment: Mapping[str, str]
    given: Mapping[str, str | None]
    is_json: bool = False
    is_quiet: bool = False
    out: IO[str] = sys.stdout
    err: IO[str] = sys.stderr

    def connection(self, *, project: str | None = None) -> Connection:
        """Return where to call. Raises Misused where nobody has logged in."""
        given = {**self.given, "project": project}
        return configuration.load(places=self.places, environment=self.environment, given=given)

    @contextmanager
    def client(self, *, connection: Connection) -> "Iterator[Client]":
        """Yield a client of the server."""
        from .api import Client  # noqa: PLC0415  httpx takes a quarter of a second

        with Client(connection=connection) as client:
            yield client

    def show(self, *, row: Mapping[str, Any], line: str) -> None:
        """Tell one result: an object, or a line for people."""
        text = json.dumps(row, ensure_ascii=False) if self.is_json else line
        self.out.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Tell what is no result."""
        if not (self.is_quiet or self.is_json):
            self.err.write(f"{text}\n")

    def table(self, *, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Draw a table; plain columns where nobody looks at it."""
        cells = [tuple(row) for row in rows]
        if not self.out.isatty():
            self.out.writelines("\t".join(row) + "\n" for row in cells)
            return
        from rich.console import Console  # noqa: PLC0415  drawn for people alone
        from rich.table import Table  # noqa: PLC0415

        table = Table(*head, box=None, pad_edge=False, header_style="bold")
        for row in cells:
            table.add_row(*(_escaped(cell) for cell in row))
        Console(file=self.out).print(table)

    def is_watched(self) -> bool:
        """Say whether somebody may be asked, and shown how far it is."""
        return self.err.isatty() and not (self.is_quiet or self.is_json)

    def fault(self, fault: ClientError) -> None:
        """Tell a fault, what to do, and the next command to try."""
        if self.is_json:
            self.err.write(json.dumps(as_json(fault=fault), ensure_ascii=False) + "\n")
            return
        lines = [f"error: {fault.detail}"]
        lines += [f"  {one.pointer}: {one.detail}" for one in _faults(fault)]
        if fault.hint:
            lines.append(f"  {fault.hint}")
        if isinstance(fault, Problem) and fault.request_id:
            lines.append(f"  request {fault.request_id}")
        self.err.write("\n".join((*lines, f"  try: {fault.command}", "")))


def as_json(*, fault: ClientError) -> dict[str, Any]:
    """Write a fault down for programs."""
    told: dict[str, Any] = {
        "error": fault.code,
        "detail": fault.detail,
        "hint": fault.hint,
        "command": fault.command,
        "exit_code": fault.exit_code,
    }
    if isinstance(fault, Problem):
        told |= {"status": fault.status, "request_id": fault.request_id}
    return told


def shortened(*, text: str, most: int = LINE_MOST) -> str:
    """Return a text as one line of so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _faults(fault: ClientError) -> Sequence[Any]:
    return fault.faults if isinstance(fault, Problem) else ()


def _escaped(cell: str) -> str:
    return cell.replace("[", r"\[")


@contextmanager
def progress(*, desk: Desk, what: str, total: int, of_bytes: bool = True) -> Iterator[Any]:
    """Yield what is called with how many are done; a bar with the time left, for people.

    Bytes have their rate, other things their number.
    """
    if not desk.is_watched():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  drawn for people alone
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        *((DownloadColumn(), TransferSpeedColumn()) if of_bytes else (MofNCompleteColumn(),)),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=desk.err), transient=True) as bar:
        task = bar.add_task(what, total=total or None)
        yield lambda count: bar.update(task, advance=count)
