"""Commands that send transcripts: replay what was, sync what came since."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from . import finding, replay
from .asking import Project
from .bookmarks import Shelf
from .configuration import Connection
from .errors import Incomplete, Misused
from .finding import Transcript
from .replay import Done, Run
from .terminal import Desk, progress

Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Transcripts or folders; those of this folder's work else."),
]
From = Annotated[str, typer.Option("--from", help="claude-code | codex")]
All = Annotated[bool, typer.Option("--all", help="Of the work in every folder, not this one's.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Also --all of them --shared.")]
Shared = Annotated[bool, typer.Option("--shared", help="The project's members see the sessions.")]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="replay")(send)
    app.command()(sync)


def send(  # noqa: PLR0913  each is an option
    context: typer.Context,
    paths: Paths = None,
    project: Project = "",
    source: From = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count alone.")] = False,
    again: Annotated[bool, typer.Option("--again", help="From the start, not on.")] = False,
    shared: Shared = False,
    *,
    everywhere: All = False,
    yes: Yes = False,
) -> None:
    """Replay transcripts of Claude Code and Codex into sessions; what was sent is not sent again.

    Secrets are taken out on this machine before anything is sent.
    """
    desk: Desk = context.obj
    check_audience(everywhere, shared, yes)
    found = _named(paths, source) if paths else _found_by(desk, source, everywhere)
    if dry_run:
        shelf = Shelf(folder=desk.places.state / "replays", url="", project="")
        _run(desk, found, Run(sink=None, shelf=shelf, project="", goes_on=False))
        return
    connection = connection_of(desk, project)
    shelf = shelf_of(desk, connection)
    with desk.client(connection=connection) as client:
        run = Run(
            sink=client,
            shelf=shelf,
            project=connection.project,
            is_shared=shared,
            goes_on=not again,
        )
        _run(desk, found, run)


def sync(
    context: typer.Context,
    project: Project = "",
    source: From = "",
    shared: Shared = False,
    everywhere: All = False,
    yes: Yes = False,
) -> None:
    """Send what transcripts of this folder's work have gained since; their sessions stay open."""
    desk: Desk = context.obj
    check_audience(everywhere, shared, yes)
    connection = connection_of(desk, project)
    shelf = shelf_of(desk, connection)
    with desk.client(connection=connection) as client:
        run = Run(
            sink=client,
            shelf=shelf,
            project=connection.project,
            ends=False,
            is_shared=shared,
        )
        _run(desk, _found_by(desk, source, everywhere), run)


def _run(desk: Desk, found: tuple[Transcript, ...], run: Run) -> None:
    done: list[Done] = []
    total = sum(transcript.size for transcript in found)
    with ExitStack() as stack:
        advance = stack.enter_context(progress(desk=desk, what="replay", total=total))
        watched = Run(
            sink=run.sink,
            shelf=run.shelf,
            project=run.project,
            ends=run.ends,
            is_shared=run.is_shared,
            goes_on=run.goes_on,
            progress=advance,
        )
        for one in replay.replay(run=watched, transcripts=found):
            done.append(one)
            tell(desk, one, is_sent=run.sink is not None)
    _summed(desk, done, is_sent=run.sink is not None)


def tell(desk: Desk, one: Done, *, is_sent: bool) -> None:
    """Tell what became of a transcript; of one that gained nothing nothing, to people."""
    if is_sent and not one.session_id and one.fault is None and not desk.is_json:
        return
    counts = one.tally
    parts = [f"{counts.turns} turns", f"{counts.events} events"]
    parts += [f"{counts.stored} new"] if is_sent else []
    for name in ("unknown", "broken", "refused"):
        parts += [f"{getattr(counts, name)} {name}"] if getattr(counts, name) else []
    parts += [f"{counts.masked.total()} masked"] if counts.masked else []
    parts += [f"error: {one.fault.detail}"] if one.fault else []
    line = f"{one.transcript.source.name}  {one.transcript.path.name}  {', '.join(parts)}"
    desk.show(row=one.as_json(), line=line)


def _summed(desk: Desk, done: list[Done], *, is_sent: bool) -> None:
    masked = sum((one.tally.masked for one in done), Counter[str]())
    failed = sum(one.fault is not None for one in done)
    stored = sum(one.tally.stored for one in done)
    said = f", {stored} turns and events were new" if is_sent else ", nothing was sent"
    desk.note(f"{len(done)} transcripts{said}")
    if masked:
        kinds = ", ".join(f"{count} {kind}" for kind, count in masked.most_common())
        desk.note(f"taken out before sending: {kinds}")
    if failed:
        raise Incomplete(
            detail=f"{failed} of {len(done)} transcripts were not sent whole.",
            hint="The next run goes on from where they stopped.",
            command="cairn replay",
        )


def connection_of(desk: Desk, project: str) -> Connection:
    """Return where sessions go. Raises Misused where no project is named."""
    connection = desk.connection(project=project)
    if not connection.project:
        raise Misused(
            detail="Sessions belong to a project, and none is named.",
            hint="Name it with --project, or once and for all when you log in.",
            command="cairn status",
        )
    return connection


def shelf_of(desk: Desk, connection: Connection) -> Shelf:
    """Return the bookmarks of that server and project."""
    return Shelf(
        folder=desk.places.state / "replays", url=connection.url, project=connection.project
    )


def check_audience(everywhere: bool, shared: bool, yes: bool) -> None:
    """Raise Misused where the work in every folder would be shown to a project unasked."""
    if everywhere and shared and not yes:
        raise Misused(
            detail="The members of one project would see the work in every folder of this machine.",
            hint="Leave out --all or --shared, or say --yes.",
            command="cairn replay --all --shared --dry-run --yes",
        )


def _named(paths: list[Path], source: str) -> tuple[Transcript, ...]:
    return tuple(finding.named(paths=tuple(paths), name=known(source)))


def _found_by(desk: Desk, source: str, everywhere: bool) -> tuple[Transcript, ...]:
    """Return the transcripts of the work in this folder and below, or in every folder."""
    names = (source,) if known(source) else ()
    found = finding.everywhere(home=desk.places.home, names=names)
    if everywhere:
        return tuple(found)
    here = folder_of_work(desk)
    chosen = tuple(finding.of_work_in(folder=here, found=found))
    if not chosen:
        desk.note(f"No transcript tells of work in {here}; --all takes those of every folder.")
    return chosen


def folder_of_work(desk: Desk) -> Path:
    """Return the folder one is in.

    Raises Misused in one that holds everything: that is meant by --all alone.
    """
    here = Path.cwd()
    if desk.places.home.resolve().is_relative_to(here.resolve()):
        raise Misused(
            detail=f"{here} holds all of your work, and no one project.",
            hint="Go to the folder of the project, name transcripts, or say --all.",
            command="cairn replay --all --dry-run",
        )
    return here


def known(source: str) -> str:
    """Return the name of a program. Raises Misused for one whose transcripts are not read."""
    if source and source not in finding.SOURCES:
        raise Misused(
            detail=f"{source} is no program whose transcripts are read.",
            hint=f"Known are {', '.join(finding.SOURCES)}.",
            command="cairn replay --help",
        )
    return source
