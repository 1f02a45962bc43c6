"""Commands that connect the agents of this machine: init, doctor, uninstall."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from ..errors import ClientError, Incomplete, Misused
from ..install import doctor, installer
from ..install.harnesses import HARNESSES, is_there
from ..install.installer import PlannedEdit
from ..terminal import Project, Terminal, Yes


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
    terminal: Terminal = context.obj
    connection = terminal.connection(project=project)
    planned = tuple(
        installer.plan(
            places=terminal.places,
            connection=connection,
            harnesses=_chosen(terminal, harness or []),
        )
    )
    for one in planned:
        _show_planned(terminal, one)
    due = [one for one in planned if one.changes]
    if due and not print_only:
        _confirm(terminal, yes, f"Write {len(due)} files?", "cairn init --yes")
        for one in due:
            installer.write(places=terminal.places, planned=one)
        terminal.note(f"{len(due)} files were written. Undo: cairn uninstall. Next: cairn doctor")
    if any(one.fault for one in planned):
        raise Incomplete(
            detail="A file was left alone.",
            hint="What goes into it is shown above; put your token in by hand.",
            command="cairn init --print-only",
        )


def uninstall(context: typer.Context, yes: Yes = False) -> None:
    """Take everything out again: parts of other programs' files, settings, bookmarks."""
    terminal: Terminal = context.obj
    files = installer.installed(places=terminal.places)
    for file, name in files.items():
        terminal.note(f"{name}: {file}")
    question = f"Undo {len(files)} files and forget the login?"
    _confirm(terminal, yes, question, "cairn uninstall --yes")
    left: list[str] = []
    for one in installer.undo(places=terminal.places):
        row, line = {"file": str(one.path), "did": one.did}, f"{one.path} {one.did}"
        if one.fault is not None:
            left.append(str(one.path))
            row, line = {**row, "error": one.fault.detail}, f"{line}: {one.fault.detail}"
        terminal.show(row=row, line=line)
    installer.forget(places=terminal.places)
    if left:
        raise Incomplete(
            detail=f"Left alone: {', '.join(left)}. All else was undone.",
            hint="Take our part out by hand: it is called cairn there.",
            command="cairn doctor",
        )


def examine(context: typer.Context) -> None:
    """Look at the settings, the server, the token, and the agents of this machine."""
    terminal: Terminal = context.obj
    connection = terminal.connection()
    places, now = terminal.places, datetime.now(UTC)
    with terminal.client(connection=connection) as client:
        found = (
            *doctor.check_settings(places=places, connection=connection),
            *doctor.check_server(client=client, connection=connection, now=now),
            *doctor.check_harnesses(places=places, connection=connection),
        )
    if terminal.is_json:
        for one in found:
            row = {"check": one.name, "ok": one.is_well, "detail": one.detail, "fix": one.fix}
            terminal.show(row=row, line="")
    else:
        rows = [("ok" if one.is_well else "WRONG", one.name, one.detail, one.fix) for one in found]
        terminal.table(head=("", "what", "seen", "mend"), rows=rows)
    wrong = [one for one in found if not one.is_well]
    if wrong:
        raise ClientError(
            detail=f"{len(wrong)} of {len(found)} checks failed.",
            command=next((one.fix for one in wrong if one.fix.startswith("cairn ")), "cairn login"),
        )


def _chosen(terminal: Terminal, names: list[str]) -> tuple[str, ...]:
    unknown = [name for name in names if name not in HARNESSES]
    if unknown:
        raise Misused(
            detail=f"{unknown[0]} is not known.",
            hint=f"Known are {', '.join(HARNESSES)}.",
            command="cairn init --help",
        )
    if names:
        return tuple(names)
    found = tuple(one for one in HARNESSES if is_there(harness=one, home=terminal.places.home))
    if not found:
        raise Misused(
            detail="No agent was found on this machine.",
            hint="Name one with --harness.",
            command="cairn init --harness claude-code",
        )
    return found


def _show_planned(terminal: Terminal, one: PlannedEdit) -> None:
    row = {"harness": one.harness, "file": str(one.path), "changes": one.changes}
    if one.fault is not None:
        detail = f"{one.fault.detail} {one.fault.hint}".strip()
        line = f"{one.path}: left alone. {detail}\nWhat goes into it:\n\n{one.part}"
        terminal.show(row={**row, "error": detail, "part": one.part}, line=line)
        return
    line = one.diff if one.changes else f"{one.path}: nothing to do"
    terminal.show(row={**row, "diff": one.diff}, line=line)


def _confirm(terminal: Terminal, yes: bool, question: str, command: str) -> None:
    """Go on with a yes. Raises Misused where nobody can be asked."""
    if not yes:
        terminal.confirm(
            question=question,
            refusal=Misused(
                detail="Nobody is there to be asked.", hint="Say --yes.", command=command
            ),
            declined=ClientError(detail="Nothing was done.", command=command),
        )
