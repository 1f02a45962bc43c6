"""Commands that stop what agents are given, and let it go on (spec 4.6, 8.3)."""

from typing import Annotated

import typer

from .asking import Project
from .errors import Misused
from .terminal import Desk

Everybody = Annotated[bool, typer.Option("--everybody", help="All agents, not this token's alone.")]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    for command in (pause, resume):
        app.command()(command)


def pause(context: typer.Context, project: Project = "", everybody: Everybody = False) -> None:
    """Give agents that use this token nothing, until you resume. What they tell is kept on."""
    _set(context.obj, project, is_all=everybody, paused=True)


def resume(context: typer.Context, project: Project = "", everybody: Everybody = False) -> None:
    """Give agents what helps them again."""
    _set(context.obj, project, is_all=everybody, paused=False)


def _set(desk: Desk, project: str, *, is_all: bool, paused: bool) -> None:
    connection = desk.connection(project=project)
    if not connection.project:
        raise Misused(
            detail="A pause belongs to a project, and none is named.",
            hint="Name it with --project.",
            command="cairn status",
        )
    with desk.client(connection=connection) as client:
        token_id = "" if is_all else str(client.me().told.get("token_id") or "")
        told = client.pause(project=connection.project, paused=paused, token_id=token_id)
    agents = "all agents" if told.get("paused") else "agents of this token"
    is_paused = told.get("paused") or told.get("this_token_paused")
    state = f"paused for {agents}" if is_paused else "not paused"
    desk.show(row=told, line=f"{connection.project}: {state}")
