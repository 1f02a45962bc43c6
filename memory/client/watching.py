"""The command that follows transcripts while agents work."""

import time
from typing import Annotated, Final

import typer

from . import finding, replaying
from .asking import Project
from .errors import Incomplete
from .finding import Transcript
from .replay import Run
from .replaying import All, From, Shared, Yes
from .terminal import Desk
from .watch import Round, Watch

EVERY_SECONDS: Final = 2.0
Every = Annotated[float, typer.Option("--every", min=0.2, max=3600.0, help="Seconds.")]
Once = Annotated[
    bool, typer.Option("--once", help="One round, then end: see `sync` for older work.")
]


def register(*, app: typer.Typer) -> None:
    """Add the command."""
    app.command()(watch)


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
    desk: Desk = context.obj
    replaying.check_audience(everywhere, shared, yes)
    connection = replaying.connection_of(desk, project)
    shelf = replaying.shelf_of(desk, connection)

    names = (source,) if replaying.known(source) else ()
    here = None if everywhere else replaying.folder_of_work(desk)

    def belongs(transcript: Transcript) -> bool:
        return here is None or any(finding.of_work_in(folder=here, found=(transcript,)))

    with desk.client(connection=connection) as client:
        run = Run(
            sink=client, shelf=shelf, project=connection.project, ends=False, is_shared=shared
        )
        following = Watch(
            run=run,
            look=lambda: finding.everywhere(home=desk.places.home, names=names),
            belongs=belongs,
            every_seconds=every,
        )
        if not once:
            desk.note(f"Following the transcripts of {connection.project}; Ctrl-C ends it.")
        try:
            _go_on(desk, following, once=once)
        except KeyboardInterrupt:
            desk.note("Stopped. The next run goes on from here.")


def _go_on(desk: Desk, following: Watch, *, once: bool) -> None:
    """Make rounds until somebody stops it. Raises Incomplete for a single one."""
    was_away = False
    while True:
        made = following.round(now_seconds=time.time())
        _tell(desk, made, was_away=was_away)
        was_away = made.fault is not None
        if once:
            _check_whole(made)
            return
        time.sleep(made.wait_seconds)


def _tell(desk: Desk, made: Round, *, was_away: bool) -> None:
    for one in made.done:
        replaying.tell(desk, one, is_sent=True)
    desk.out.flush()
    if made.fault is not None and not was_away:
        desk.note(f"{made.fault.detail} It is tried again, and nothing is lost.")
    if made.fault is None and was_away:
        desk.note("The server is back.")


def _check_whole(made: Round) -> None:
    fault = made.fault or next((one.fault for one in made.done if one.fault), None)
    if fault is not None:
        raise Incomplete(
            detail=fault.detail,
            hint="The next run goes on from here.",
            command="cairn watch --once",
        )
