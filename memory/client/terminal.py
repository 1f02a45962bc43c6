"""What the command line writes and where: results to stdout, everything else to stderr.

With `--json` a result is one object a line and an error one object on stderr. Tables and progress
bars are for terminals alone; `NO_COLOR` is respected. Rich and httpx take longer to load than most
commands to run, so they are imported where they are used.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from . import configuration
from .configuration import Connection, Places
from .errors import ClientError, Misused, Problem

if TYPE_CHECKING:
    from .api import Client

Json = Mapping[str, Any]  # an object that the server sent, or that is shown
LINE_MOST: Final = 100  # characters of a memory in a line of a table

Project = Annotated[str, typer.Option("--project", "-p", help="Slug of the project.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """One run of the command line: its options, its environment, where it writes."""

    given: Mapping[str, str | None] = field(default_factory=dict)
    is_json: bool = False
    is_quiet: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    out: IO[str] = field(default_factory=lambda: sys.stdout)
    err: IO[str] = field(default_factory=lambda: sys.stderr)

    @property
    def places(self) -> Places:
        """The folders of this program."""
        return configuration.places(environment=self.environment)

    def connection(self, *, project: str | None = None) -> Connection:
        """Return where to call. Raises Misused where nobody has logged in."""
        given = {**self.given, "project": project}
        return configuration.load(places=self.places, environment=self.environment, given=given)

    @contextmanager
    def client(
        self,
        *,
        connection: Connection | None = None,
        project: str | None = None,
        subject: str = "",
        in_person: bool = False,
    ) -> "Iterator[Client]":
        """Yield a client of the server: of the usual one, where no other is named.

        Raises Misused where nobody has logged in, and where no project is named for what `subject`
        says belongs to one. `in_person`: by the token of `cairn login --review`, if there is one.
        """
        from .api import Client  # noqa: PLC0415  httpx takes a quarter of a second

        connection = connection or self.connection(project=project)
        if subject and not connection.project:
            raise Misused(
                detail=f"{subject} to a project, and none is named.",
                hint="Name it with --project, or once and for all when you log in.",
                command="cairn status",
            )
        if in_person and connection.review:
            connection = replace(connection, token=connection.review)
        with Client(connection=connection) as client:
            yield client

    def show(self, *, row: Json, line: str) -> None:
        """Write one result: an object, or a line for people."""
        text = json.dumps(row, ensure_ascii=False) if self.is_json else line
        self.out.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Write what is no result, for people."""
        if not (self.is_quiet or self.is_json):
            self.err.write(f"{text}\n")

    def table(self, *, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Draw a table; plain columns where nobody looks at it."""
        if not self.out.isatty():
            self.out.writelines("\t".join(row) + "\n" for row in rows)
            return
        from rich.console import Console  # noqa: PLC0415  drawn for people alone
        from rich.table import Table  # noqa: PLC0415

        table = Table(*head, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        Console(file=self.out).print(table)

    def is_watched(self) -> bool:
        """Say whether somebody may be asked, and shown progress."""
        return self.err.isatty() and not (self.is_quiet or self.is_json)

    def confirm(self, *, question: str, refusal: Misused, declined: ClientError) -> None:
        """Go on with a yes. Raises `refusal` where nobody can be asked, `declined` for a no."""
        if not (sys.stdin.isatty() and self.is_watched()):
            raise refusal
        if not typer.confirm(question, err=True):
            raise declined

    def fault(self, fault: ClientError) -> None:
        """Write an error, what to do, and the next command to try."""
        if self.is_json:
            self.err.write(json.dumps(fault.as_json(), ensure_ascii=False) + "\n")
            return
        lines = [f"error: {fault.detail}"]
        if isinstance(fault, Problem):
            lines += [f"  {one.pointer}: {one.detail}" for one in fault.faults]
        if fault.hint:
            lines.append(f"  {fault.hint}")
        if isinstance(fault, Problem) and fault.request_id:
            lines.append(f"  request {fault.request_id}")
        self.err.write("\n".join((*lines, f"  try: {fault.command}", "")))


def check_folder(*, terminal: Terminal, folder: Path, hint: str, command: str = "") -> None:
    """Raise Misused for a folder that holds the person's home; `command` is what to run instead."""
    if terminal.places.home.resolve().is_relative_to(folder.resolve()):
        detail = f"{folder} holds all of your work, and no one project."
        raise Misused(detail=detail, hint=hint, command=command)


def shortened(*, text: str, most: int = LINE_MOST) -> str:
    """Return a text as one line of so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def listed(*, text: str) -> list[str]:
    """Return the parts of an option that are separated by commas."""
    return [one.strip() for one in text.split(",") if one.strip()]


def read_file(*, path: Path, most: int) -> bytes:
    """Return the bytes of a file, or of stdin for a hyphen. Raises Misused for what is too large
    or cannot be read."""
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise Misused(detail=f"{path} cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise Misused(
            detail=f"{path} is too large: at most {most:,} bytes are read.",
            hint="Leave out what is generated, or split it.",
        )
    return data


@contextmanager
def progress(*, terminal: Terminal, what: str, total: int, of_bytes: bool = True) -> Iterator[Any]:
    """Yield what is called with how many are done; a bar with the time left, for people.

    Bytes have their rate, other things their number.
    """
    if not terminal.is_watched():
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

    done = (DownloadColumn(), TransferSpeedColumn()) if of_bytes else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *done, TimeRemainingColumn())
    with Progress(*columns, console=Console(file=terminal.err), transient=True) as bar:
        task = bar.add_task(what, total=total or None)
        yield lambda count: bar.update(task, advance=count)
