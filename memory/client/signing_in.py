"""The command that signs this machine in: with a code, or with a token."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from . import configuration, device
from .asking import Project
from .configuration import Connection
from .device import Shown
from .errors import Misused
from .terminal import Desk


def register(*, app: typer.Typer) -> None:
    """Add the command."""
    app.command()(login)


def login(
    context: typer.Context,
    address: Annotated[str, typer.Argument(help="Address of the server.")] = "",
    project: Project = "",
    by_code: Annotated[
        bool | None,
        typer.Option("--code/--paste", help="Type a code in a browser, or paste a token here."),
    ] = None,
) -> None:
    """Sign this machine in: with a code that you type in a browser, or with a token of yours.

    A token is read from stdin where that is a pipe, so that it stands in no history.
    """
    desk: Desk = context.obj
    kept = {} if address else configuration.read(path=desk.places.file)
    url = address or desk.given.get("url") or desk.environment.get("CAIRN_URL") or kept.get("url")
    if not url:
        url = _asked(desk, "Address of the server")
    connection = Connection(url=configuration.address(text=url), token="", project=project)
    token = _given(desk, connection, kept) if by_code is None else ""
    if not token:
        is_by_code = sys.stdin.isatty() if by_code is None else by_code
        token = _signed_in(desk, connection) if is_by_code else _asked(desk, "Token", hide=True)
    connection = replace(connection, token=token.strip())
    with desk.client(connection=connection) as client:
        me = client.me()
        slugs = [str(one.get("slug")) for one in client.projects()]
    connection = replace(connection, project=_project(project, slugs))
    configuration.save(path=desk.places.file, connection=connection)
    desk.show(
        row={"url": connection.url, "project": connection.project, **me.told},
        line=f"Logged in: {me.agent} · {me.organization} · {connection.project or 'all projects'}",
    )
    desk.note("Next: cairn init")


def _given(desk: Desk, connection: Connection, kept: Mapping[str, str]) -> str:
    """Return the token that was named, or the one there is, to choose another project with it."""
    named = desk.given.get("token") or desk.environment.get("CAIRN_TOKEN") or ""
    is_kept = connection.project and connection.url == kept.get("url")
    return named or (kept.get("token", "") if is_kept else "")


def _project(named: str, slugs: list[str]) -> str:
    """Return the usual project: the one that was named, or the only one. Raises Misused."""
    if named and named not in slugs:
        raise Misused(
            detail=f"The token's owner sees no project {named}.",
            hint=f"There are: {', '.join(slugs) or 'none'}.",
            command="cairn login --project SLUG",
        )
    return slugs[0] if not named and len(slugs) == 1 else named


def _signed_in(desk: Desk, connection: Connection) -> str:
    """Return a token that somebody approved in a browser."""
    with desk.client(connection=connection) as client:
        return device.sign_in(authority=client, show=lambda shown: _show_code(desk, shown))


def _show_code(desk: Desk, shown: Shown) -> None:
    """Show a person where to go; also where notes are left out, since nothing goes on without."""
    row = {"verification_uri": shown.direct, "user_code": shown.code}
    if desk.is_json:
        desk.show(row=row, line="")
    else:
        desk.err.write(f"Open {shown.address} and type {shown.code}\nor open {shown.direct}\n")
    desk.out.flush()
    desk.err.flush()


def _asked(desk: Desk, what: str, *, hide: bool = False) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=hide, err=True))
    text = sys.stdin.readline().strip()
    if not text:
        raise Misused(
            detail=f"{what}: none was given.",
            hint="Pipe it in, or set CAIRN_URL and CAIRN_TOKEN.",
            command="cairn login https://HOST < FILE",
        )
    return text
