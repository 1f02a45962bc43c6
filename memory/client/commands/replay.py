"""Commands that send transcripts: replay what was, sync what came since, watch while it comes."""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from ..errors import Incomplete, Misused
from ..terminal import Project, Terminal, progress
from ..transcripts import finder
from ..transcripts.finder import Transcript
from ..transcripts.reader import Bookmarks
from ..transcripts.upload import Upload, UploadResult, send_transcripts
from ..transcripts.watch import Round, Watch

EVERY_SECONDS: Final = 2.0
BELONG: Final = "Sessions belong"
Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Transcripts or folders; those of this folder's work else."),
]
From = Annotated[str, typer.Option("--from", help="claude-code | codex")]
All = Annotated[bool, typer.Option("--all", help="Of the work in every folder, not this one's.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Also --all of them --shared.")]
Shared = Annotated[bool, typer.Option("--shared", help="The project's members see the sessions.")]
Every = Annotated[float, typer.Option("--every", min=0.2, max=3600.0, help="Seconds.")]
Once = Annotated[
    bool, typer.Option("--once", help="One round, then end: see `sync` for older work.")
]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="replay")(send)
    app.command()(sync)
    app.command()(watch)


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
    terminal: Terminal = context.obj
    _check_audience(everywhere, shared, yes)
    if paths:
        named = finder.named_transcripts(paths=tuple(paths), name=_known(source))
        found = tuple(named)
    else:
        found = _find(terminal, source, everywhere)
    if dry_run:
        bookmarks = Bookmarks(folder=terminal.places.state / "replays", url="", project="")
        upload = Upload(api=None, bookmarks=bookmarks, project="", resumes=False)
        _send(terminal, found, upload)
        return
    connection = terminal.project_connection(project=project, subject=BELONG)
    with terminal.client(connection=connection) as client:
        upload = Upload(
            api=client,
            bookmarks=_bookmarks(terminal, connection.url, connection.project),
            project=connection.project,
            is_shared=shared,
            resumes=not again,
        )
        _send(terminal, found, upload)


def sync(
    context: typer.Context,
    project: Project = "",
    source: From = "",
    shared: Shared = False,
    everywhere: All = False,
    yes: Yes = False,
) -> None:
    """Send what transcripts of this folder's work have gained since; their sessions stay open."""
    terminal: Terminal = context.obj
    _check_audience(everywhere, shared, yes)
    connection = terminal.project_connection(project=project, subject=BELONG)
    with terminal.client(connection=connection) as client:
        upload = Upload(
            api=client,
            bookmarks=_bookmarks(terminal, connection.url, connection.project),
            project=connection.project,
            ends=False,
            is_shared=shared,
        )
        _send(terminal, _find(terminal, source, everywhere), upload)


def watch(
    context: typer.Context,
    project: Project = "",
    source: From = "",
    shared: Shared = False,
    once: Once = False,
    every: Every = EVERY_SECONDS,
    *,
    everywhere: All = False,
    yes: Yes = False,
) -> None:
    """Follow transcripts of this folder's work, and send what they gain until you stop it.

    Secrets are taken out on this machine before anything is sent. What could not be sent while the
    server was away is sent when it is back. Sessions stay open; the server ends idle ones.
    """
    terminal: Terminal = context.obj
    _check_audience(everywhere, shared, yes)
    connection = terminal.project_connection(project=project, subject=BELONG)
    names = (source,) if _known(source) else ()
    here = None if everywhere else _work_folder(terminal)

    def belongs(transcript: Transcript) -> bool:
        return here is None or any(finder.in_folder(folder=here, found=(transcript,)))

    with terminal.client(connection=connection) as client:
        upload = Upload(
            api=client,
            bookmarks=_bookmarks(terminal, connection.url, connection.project),
            project=connection.project,
            ends=False,
            is_shared=shared,
        )
        watching = Watch(
            upload=upload,
            find=lambda: finder.find_transcripts(home=terminal.places.home, names=names),
            belongs=belongs,
            every_seconds=every,
        )
        if not once:
            terminal.note(f"Following the transcripts of {connection.project}; Ctrl-C ends it.")
        try:
            _run_rounds(terminal, watching, once=once)
        except KeyboardInterrupt:
            terminal.note("Stopped. The next run goes on from here.")


def _run_rounds(terminal: Terminal, watching: Watch, *, once: bool) -> None:
    """Make rounds until somebody stops it. Raises Incomplete for a single one that failed."""
    was_away = False
    while True:
        made = watching.round(now_seconds=time.time())
        for one in made.results:
            _show(terminal, one, is_sent=True)
        terminal.out.flush()
        if made.fault is not None and not was_away:
            terminal.note(f"{made.fault.detail} It is tried again, and nothing is lost.")
        if made.fault is None and was_away:
            terminal.note("The server is back.")
        was_away = made.fault is not None
        if once:
            _check_round(made)
            return
        time.sleep(made.wait_seconds)


def _check_round(made: Round) -> None:
    fault = made.fault or next((one.fault for one in made.results if one.fault), None)
    if fault is not None:
        raise Incomplete(
            detail=fault.detail,
            hint="The next run goes on from here.",
            command="cairn watch --once",
        )


def _send(terminal: Terminal, found: tuple[Transcript, ...], upload: Upload) -> None:
    """Send transcripts and report each. Raises Incomplete where one was not sent whole."""
    results: list[UploadResult] = []
    is_sent = upload.api is not None
    total = sum(transcript.size for transcript in found)
    with progress(terminal=terminal, what="replay", total=total) as advance:
        shown = replace(upload, progress=advance)
        for one in send_transcripts(upload=shown, transcripts=found):
            results.append(one)
            _show(terminal, one, is_sent=is_sent)
    masked = sum((one.counts.masked for one in results), Counter[str]())
    failed = sum(one.fault is not None for one in results)
    stored = sum(one.counts.stored for one in results)
    sent = f", {stored} turns and events were new" if is_sent else ", nothing was sent"
    terminal.note(f"{len(results)} transcripts{sent}")
    if masked:
        kinds = ", ".join(f"{count} {kind}" for kind, count in masked.most_common())
        terminal.note(f"taken out before sending: {kinds}")
    if failed:
        raise Incomplete(
            detail=f"{failed} of {len(results)} transcripts were not sent whole.",
            hint="The next run goes on from where they stopped.",
            command="cairn replay",
        )


def _show(terminal: Terminal, one: UploadResult, *, is_sent: bool) -> None:
    """Report what became of a transcript; to people nothing of one that gained nothing."""
    if is_sent and not one.session_id and one.fault is None and not terminal.is_json:
        return
    counts = one.counts
    parts = [f"{counts.turns} turns", f"{counts.events} events"]
    parts += [f"{counts.stored} new"] if is_sent else []
    for name in ("unknown", "broken", "refused"):
        parts += [f"{getattr(counts, name)} {name}"] if getattr(counts, name) else []
    parts += [f"{counts.masked.total()} masked"] if counts.masked else []
    parts += [f"error: {one.fault.detail}"] if one.fault else []
    line = f"{one.transcript.source.name}  {one.transcript.path.name}  {', '.join(parts)}"
    terminal.show(row=one.as_json(), line=line)


def _bookmarks(terminal: Terminal, url: str, project: str) -> Bookmarks:
    return Bookmarks(folder=terminal.places.state / "replays", url=url, project=project)


def _check_audience(everywhere: bool, shared: bool, yes: bool) -> None:
    """Raise Misused where the work in every folder would be shown to a project unasked."""
    if everywhere and shared and not yes:
        raise Misused(
            detail="The members of one project would see the work in every folder of this machine.",
            hint="Leave out --all or --shared, or say --yes.",
            command="cairn replay --all --shared --dry-run --yes",
        )


def _find(terminal: Terminal, source: str, everywhere: bool) -> tuple[Transcript, ...]:
    """Return the transcripts of the work in this folder and below, or in every folder."""
    names = (source,) if _known(source) else ()
    found = finder.find_transcripts(home=terminal.places.home, names=names)
    if everywhere:
        return tuple(found)
    here = _work_folder(terminal)
    chosen = tuple(finder.in_folder(folder=here, found=found))
    if not chosen:
        terminal.note(f"No transcript tells of work in {here}; --all takes those of every folder.")
    return chosen


def _work_folder(terminal: Terminal) -> Path:
    """Return the current folder. Raises Misused in one that holds everything: that is --all."""
    here = Path.cwd()
    if terminal.places.home.resolve().is_relative_to(here.resolve()):
        raise Misused(
            detail=f"{here} holds all of your work, and no one project.",
            hint="Go to the folder of the project, name transcripts, or say --all.",
            command="cairn replay --all --dry-run",
        )
    return here


def _known(source: str) -> str:
    """Return the name of a program. Raises Misused for one whose transcripts are not read."""
    if source and source not in finder.SOURCES:
        raise Misused(
            detail=f"{source} is no program whose transcripts are read.",
            hint=f"Known are {', '.join(finder.SOURCES)}.",
            command="cairn replay --help",
        )
    return source
