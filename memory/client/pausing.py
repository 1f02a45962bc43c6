"""Commands that stop what agents are given, and let it go on."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .asking import Project
from .errors import Misused
from .terminal import Desk

if TYPE_CHECKING:
    from .api import Client

Everybody = Annotated[
    bool, typer.Option("--everybody", help="All agents of the project, not yours alone.")
]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    for command in (pause, resume):
        app.command()(command)


def pause(context: typer.Context, project: Project = "", everybody: Everybody = False) -> None:
    """Give your agents nothing, whatever token they use, until you resume. They are still heard."""
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
        whose = {} if is_all else _whose(client)
        told = client.pause(project=connection.project, paused=paused, **whose)
    agents = "all agents" if told.get("paused") else "your agents"
    is_paused = told.get("paused") or told.get("this_token_paused")
    state = f"paused for {agents}" if is_paused else "not paused"
    desk.show(row=told, line=f"{connection.project}: {state}")


def _whose(client: "Client") -> dict[str, Any]:
    """Return whose agents are meant: the person's, or those of a token that is nobody's."""
    me = client.me().told
    return {"mine": True} if me.get("user_id") else {"token_id": str(me.get("token_id") or "")}
