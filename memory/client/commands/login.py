"""The command that signs this machine in: with a code, or with a token.

With a code a person signs in in a browser, wherever that is (RFC 8628): the program shows the code
and polls at the server's pace until somebody has decided; while the server does not answer it polls
more rarely (RFC 8628, 3.5). The token is stored like any other, for its owner alone.
"""

import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .. import configuration
from ..configuration import Connection
from ..errors import ClientError, Misused, Problem, Unreachable
from ..terminal import Project, Terminal

if TYPE_CHECKING:
    from ..api import Client

SLOWER_SECONDS: Final = 5  # RFC 8628, 3.5: what slow_down adds to the interval
NAME_MOST: Final = 80  # characters, the server's
PENDING: Final = "authorization_pending"
SLOW_DOWN: Final = "slow_down"


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
    terminal: Terminal = context.obj
    stored = {} if address else configuration.read(path=terminal.places.file)
    environment = terminal.environment
    url = address or terminal.given.get("url") or environment.get("CAIRN_URL") or stored.get("url")
    if not url:
        url = _prompt("Address of the server")
    connection = Connection(url=configuration.address(text=url), token="", project=project)
    token = ""
    if by_code is None:  # the stored token serves to choose another project
        is_stored = connection.project and connection.url == stored.get("url")
        token = terminal.given.get("token") or environment.get("CAIRN_TOKEN") or ""
        token = token or (stored.get("token", "") if is_stored else "")
    if not token:
        if sys.stdin.isatty() if by_code is None else by_code:
            with terminal.client(connection=connection) as client:
                token = sign_in(client=client, show=lambda code: _show_code(terminal, code))
        else:
            token = _prompt("Token", hide=True)
    connection = replace(connection, token=token.strip())
    with terminal.client(connection=connection) as client:
        me = client.me()
        slugs = [str(one.get("slug")) for one in client.projects()]
    if project and project not in slugs:
        raise Misused(
            detail=f"The token's owner sees no project {project}.",
            hint=f"There are: {', '.join(slugs) or 'none'}.",
            command="cairn login --project SLUG",
        )
    usual = slugs[0] if not project and len(slugs) == 1 else project
    connection = replace(connection, project=usual)
    configuration.save(path=terminal.places.file, connection=connection)
    terminal.show(
        row={"url": connection.url, "project": connection.project, **me.raw},
        line=f"Logged in: {me.agent} · {me.organization} · {connection.project or 'all projects'}",
    )
    terminal.note("Next: cairn init")


def sign_in(
    *,
    client: "Client",
    show: Callable[[Mapping[str, Any]], None],
    pause: Callable[[float], None] = time.sleep,
) -> str:
    """Return a token, once somebody has approved.

    Raises Problem for a refusal, ClientError when nobody has decided in time, Unreachable when the
    server is away so long.
    """
    name = f"cairn on {platform.node() or 'a machine'}"
    printable = "".join(letter for letter in name if letter.isprintable())
    answer = client.ask_code(name=printable[:NAME_MOST])
    show(answer)
    interval, waited = float(answer.get("interval") or SLOWER_SECONDS), 0.0
    lasts = float(answer["expires_in"])
    while waited < lasts:
        pause(interval)
        waited += interval
        try:
            fetched = client.fetch_token(device_code=str(answer["device_code"]))
        except Problem as problem:
            if problem.code not in {PENDING, SLOW_DOWN}:
                raise
            interval += SLOWER_SECONDS if problem.code == SLOW_DOWN else 0
        except Unreachable as away:
            interval *= 2
            if waited + interval >= lasts:
                raise away
        else:
            return str(fetched["access_token"])
    raise ClientError(
        detail="Nobody approved the code in time.", hint="Begin again.", command="cairn login"
    )


def _show_code(terminal: Terminal, answer: Mapping[str, Any]) -> None:
    """Show a person where to go; also with --quiet, since nothing goes on without."""
    address, code = answer["verification_uri"], answer["user_code"]
    direct = answer.get("verification_uri_complete") or address
    if terminal.is_json:
        terminal.show(row={"verification_uri": direct, "user_code": code}, line="")
    else:
        terminal.err.write(f"Open {address} and type {code}\nor open {direct}\n")
    terminal.out.flush()
    terminal.err.flush()


def _prompt(what: str, *, hide: bool = False) -> str:
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
