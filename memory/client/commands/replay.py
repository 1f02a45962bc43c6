"""Commands that send transcripts: replay what was, sync what came since, watch while it comes."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from ..errors import Incomplete, Misused
from ..terminal import Project, Terminal, check_folder, progress, read_file
from ..transcripts import parsers, reader
from ..transcripts.reader import Bookmarks, Transcript
from ..transcripts.upload import UploadPlan, UploadResult, Watch, send_transcripts

EVERY_SECONDS: Final = 2.0
PAYLOAD_MOST: Final = 16 * 1024 * 1024  # bytes of a hook's payload; default
BOOKMARKS: Final = "replays"  # a folder of this program's state
_RETRIED: Final = "It is tried again, and nothing is lost."
_BACK: Final = "The server is back."
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
    _check(source, everywhere, shared, yes)
    if paths:
        found = tuple(reader.named_transcripts(paths=paths, name=source))
    else:
        found = _find(terminal, source, everywhere)
    if dry_run:
        bookmarks = Bookmarks(folder=terminal.places.state / BOOKMARKS, url="", project="")
        _send(terminal, found, UploadPlan(api=None, bookmarks=bookmarks, project="", resumes=False))
        return
    with _plan(terminal, project, shared) as plan:
        _send(terminal, found, replace(plan, ends=True, resumes=not again))


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
    _check(source, everywhere, shared, yes)
    with _plan(terminal, project, shared) as plan:
        _send(terminal, _find(terminal, source, everywhere), plan)


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
    _check(source, everywhere, shared, yes)
    with _plan(terminal, project, shared) as plan:
        watching = Watch(
            plan=plan,
            find=lambda: reader.find_transcripts(home=terminal.places.home, name=source),
            belongs=_belongs(terminal, everywhere),
            every_seconds=every,
        )
        if not once:
            terminal.note(f"Following the transcripts of {plan.project}; Ctrl-C ends it.")
        try:
            _run_rounds(terminal, watching, once=once)
        except KeyboardInterrupt:
            terminal.note("Stopped. The next run goes on from here.")


def send_of_hook(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="claude-code | codex")],
    ends: Annotated[bool, typer.Option("--end", help="The session has ended.")] = False,
) -> None:
    """Send what the transcript of a hook's session has gained; its payload comes by stdin.

    Only of a session that its hooks have opened, in whatever project that is.
    """
    terminal: Terminal = context.obj
    payload = parsers.json_object(read_file(path=Path("-"), most=PAYLOAD_MOST)) or {}
    transcript = reader.transcript_of_hook(payload=payload, name=source)
    if transcript is None:
        terminal.note("No transcript of that session is named.")
        return
    connection = replace(terminal.connection(), project="")
    with terminal.client(connection=connection) as client:
        if not client.is_session(external_id=transcript.external_id):
            terminal.note("No hook has told of that session.")
            return
        folder = terminal.places.state / BOOKMARKS
        marks = Bookmarks(folder=folder, url=client.url, project="")
        plan = UploadPlan(api=client, bookmarks=marks, project="", ends=ends)
        _send(terminal, (transcript,), plan)


def _run_rounds(terminal: Terminal, watching: Watch, *, once: bool) -> None:
    """Make rounds until somebody stops it. Raises Incomplete for a single one that failed."""
    was_away = False
    while True:
        made = watching.round(now_seconds=time.time())
        for one in made.results:
            _show(terminal, one, is_sent=True)
        terminal.out.flush()
        is_away = made.fault is not None
        if is_away != was_away:
            terminal.note(f"{made.fault.detail} {_RETRIED}" if made.fault else _BACK)
        was_away = is_away
        if once:
            faults = [made.fault, *(one.fault for one in made.results)]
            for fault in filter(None, faults):
                hint = "The next run goes on from here."
                raise Incomplete(detail=fault.detail, hint=hint, command="cairn watch --once")
            return
        time.sleep(made.wait_seconds)


def _send(terminal: Terminal, found: tuple[Transcript, ...], plan: UploadPlan) -> None:
    """Send transcripts and report each. Raises Incomplete where one was not sent whole."""
    results: list[UploadResult] = []
    is_sent = plan.api is not None
    total = sum(transcript.size for transcript in found)
    with progress(terminal=terminal, what="replay", total=total) as advance:
        for one in send_transcripts(plan=replace(plan, progress=advance), transcripts=found):
            results.append(one)
            _show(terminal, one, is_sent=is_sent)
    stored = sum(one.counts.stored for one in results)
    sent = f", {stored} turns and events were new" if is_sent else ", nothing was sent"
    terminal.note(f"{len(results)} transcripts{sent}")
    masked = sum((one.counts.masked for one in results), Counter[str]())
    if masked:
        kinds = ", ".join(f"{count} {kind}" for kind, count in masked.most_common())
        terminal.note(f"taken out before sending: {kinds}")
    failed = sum(one.fault is not None for one in results)
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


@contextmanager
def _plan(terminal: Terminal, project: str, shared: bool) -> Iterator[UploadPlan]:
    """Yield how transcripts go to a project: on from the bookmarks, into open sessions."""
    with terminal.client(project=project, subject="Sessions belong") as client:
        yield UploadPlan(
            api=client,
            bookmarks=Bookmarks(
                folder=terminal.places.state / BOOKMARKS, url=client.url, project=client.project
            ),
            project=client.project,
            ends=False,
            is_shared=shared,
        )


def _check(source: str, everywhere: bool, shared: bool, yes: bool) -> None:
    """Raise Misused for an unknown program, and where everything would be shared unasked."""
    if everywhere and shared and not yes:
        raise Misused(
            detail="The members of one project would see the work in every folder of this machine.",
            hint="Leave out --all or --shared, or say --yes.",
            command="cairn replay --all --shared --dry-run --yes",
        )
    if source and source not in reader.SOURCES:
        raise Misused(
            detail=f"{source} is no program whose transcripts are read.",
            hint=f"Known are {', '.join(reader.SOURCES)}.",
        )


def _find(terminal: Terminal, source: str, everywhere: bool) -> tuple[Transcript, ...]:
    """Return the transcripts of the work in this folder and below, or in every folder."""
    found = reader.find_transcripts(home=terminal.places.home, name=source)
    chosen = tuple(filter(_belongs(terminal, everywhere), found))
    if not chosen and not everywhere:
        terminal.note(
            f"No transcript tells of work in {Path.cwd()}; --all takes those of every folder."
        )
    return chosen


def _belongs(terminal: Terminal, everywhere: bool) -> Callable[[Transcript], bool]:
    """Return what says whether a transcript is of the work in the current folder and below.

    Raises Misused in a folder that holds everything: that is --all.
    """
    if everywhere:
        return lambda _: True
    here = Path.cwd()
    hint = "Go to the folder of the project, name transcripts, or say --all."
    command = "cairn replay --all --dry-run"
    check_folder(terminal=terminal, folder=here, hint=hint, command=command)
    return lambda transcript: reader.is_in_folder(transcript=transcript, folder=here)
