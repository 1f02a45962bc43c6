"""Commands that connect the agents of this machine: init, doctor, uninstall."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from . import doctor, installing
from .asking import Project
from .errors import ClientError, Incomplete, Misused
from .harnesses import HARNESSES, Harness
from .installing import Planned, Taken
from .terminal import Desk

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    for command in (init, uninstall):
        app.command()(command)
    app.command(name="doctor")(examine)


def init(
    context: typer.Context,
    harness: Annotated[
        list[str] | None, typer.Option("--harness", help=f"{' | '.join(HARNESSES)}; all else.")
    ] = None,
    project: Project = "",
    print_only: Annotated[bool, typer.Option("--print-only", help="Show; write nothing.")] = False,
    yes: Yes = False,
) -> None:
    """Connect the agents of this machine: shows each file and what changes in it, then asks."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    chosen = _chosen(desk, harness or [])
    planned = tuple(installing.plan(places=desk.places, connection=connection, chosen=chosen))
    for one in planned:
        _show_plan(desk, one)
    due = [one for one in planned if one.changes]
    if due and not print_only:
        _agree(desk, yes, f"Write {len(due)} files?", "cairn init --yes")
        for one in due:
            installing.carry_out(places=desk.places, planned=one)
        desk.note(f"{len(due)} files were written. Undo: cairn uninstall. Next: cairn doctor")
    if any(one.fault for one in planned):
        raise Incomplete(
            detail="A file was left alone.",
            hint="What goes into it is shown above; put your token in by hand.",
            command="cairn init --print-only",
        )


def uninstall(context: typer.Context, yes: Yes = False) -> None:
    """Take everything out again: parts of other programs' files, settings, bookmarks."""
    desk: Desk = context.obj
    files = installing.installed(places=desk.places)
    for file, name in files.items():
        desk.note(f"{name}: {file}")
    _agree(desk, yes, f"Undo {len(files)} files and forget the login?", "cairn uninstall --yes")
    taken = tuple(installing.take_out(places=desk.places))
    for one in taken:
        _show_taken(desk, one)
    installing.forget(places=desk.places)
    left = [str(one.path) for one in taken if one.fault]
    if left:
        raise Incomplete(
            detail=f"Left alone: {', '.join(left)}. All else was undone.",
            hint="Take our part out by hand: it is called cairn there.",
            command="cairn doctor",
        )


def examine(context: typer.Context) -> None:
    """Look at the settings, the server, the token, and the agents of this machine."""
    desk: Desk = context.obj
    connection = desk.connection()
    now = datetime.now(UTC)
    found = [*doctor.of_settings(places=desk.places, connection=connection)]
    with desk.client(connection=connection) as client:
        found += doctor.of_server(client=client, connection=connection, now=now)
    found += doctor.of_harnesses(places=desk.places, connection=connection)
    if desk.is_json:
        for check in found:
            desk.show(row=check.as_json(), line="")
    else:
        rows = [("ok" if one.is_well else "WRONG", one.name, one.detail, one.fix) for one in found]
        desk.table(head=("", "what", "seen", "mend"), rows=rows)
    wrong = [one for one in found if not one.is_well]
    if wrong:
        raise ClientError(
            detail=f"{len(wrong)} of {len(found)} checks failed.",
            command=next((one.fix for one in wrong if one.fix.startswith("cairn ")), "cairn login"),
        )


def _chosen(desk: Desk, names: list[str]) -> tuple[Harness, ...]:
    unknown = [name for name in names if name not in HARNESSES]
    if unknown:
        raise Misused(
            detail=f"{unknown[0]} is not known.",
            hint=f"Known are {', '.join(HARNESSES)}.",
            command="cairn init --help",
        )
    if names:
        return tuple(HARNESSES[name] for name in names)
    found = tuple(one for one in HARNESSES.values() if one.is_there(home=desk.places.home))
    if not found:
        raise Misused(
            detail="No agent was found on this machine.",
            hint="Name one with --harness.",
            command="cairn init --harness claude-code",
        )
    return found


def _show_plan(desk: Desk, one: Planned) -> None:
    row = {"harness": one.harness.name, "file": str(one.path), "changes": one.changes}
    if one.fault is not None:
        detail = f"{one.fault.detail} {one.fault.hint}".strip()
        line = f"{one.path}: left alone. {detail}\nWhat goes into it:\n\n{one.part}"
        desk.show(row={**row, "error": detail, "part": one.part}, line=line)
        return
    line = one.diff if one.changes else f"{one.path}: nothing to do"
    desk.show(row={**row, "diff": one.diff}, line=line)


def _show_taken(desk: Desk, one: Taken) -> None:
    row = {"file": str(one.path), "did": one.did}
    if one.fault is None:
        desk.show(row=row, line=f"{one.path} {one.did}")
        return
    detail = one.fault.detail
    desk.show(row={**row, "error": detail}, line=f"{one.path} {one.did}: {detail}")


def _agree(desk: Desk, yes: bool, question: str, command: str) -> None:
    """Go on with a yes. Raises Misused where nobody can be asked."""
    if yes:
        return
    if not (sys.stdin.isatty() and desk.is_watched()):
        raise Misused(detail="Nobody is there to be asked.", hint="Say --yes.", command=command)
    if not typer.confirm(question, err=True):
        raise ClientError(detail="Nothing was done.", command=command)
