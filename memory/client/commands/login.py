"""The command that signs this machine in: with a code, or with a token.

With a code a person signs in in a browser, wherever that is (RFC 8628): the program shows the code
and polls at the server's pace until somebody has decided; while the server does not answer it polls
more rarely (RFC 8628, 3.5). The token is stored like any other, for its owner alone.
"""

import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Protocol

import typer

from .. import configuration
from ..configuration import Connection
from ..errors import ClientError, Misused, Problem, Unreachable
from ..terminal import Project, Terminal

SLOWER_SECONDS: Final = 5  # RFC 8628, 3.5: what slow_down adds to the interval
NAME_MOST: Final = 80  # characters, the server's
PENDING: Final = "authorization_pending"
SLOW_DOWN: Final = "slow_down"


class Authority(Protocol):
    """What of the client a sign-in needs."""

    def ask_code(self, *, name: str) -> Mapping[str, Any]:
        """Ask for the two codes."""

    def fetch_token(self, *, device_code: str) -> Mapping[str, Any]:
        """Fetch the token. Raises Problem until somebody has approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """What a person is shown: where to go, and the code."""

    address: str
    code: str
    direct: str


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
        is_by_code = sys.stdin.isatty() if by_code is None else by_code
        if is_by_code:
            with terminal.client(connection=connection) as client:
                token = sign_in(authority=client, show=lambda code: _show_code(terminal, code))
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
    authority: Authority,
    show: Callable[[DeviceCode], None],
    pause: Callable[[float], None] = time.sleep,
) -> str:
    """Return a token, once somebody has approved.

    Raises Problem for a refusal, ClientError when nobody has decided in time, Unreachable when the
    server is away so long.
    """
    answer = authority.ask_code(name=own_name())
    show(
        DeviceCode(
            address=str(answer["verification_uri"]),
            code=str(answer["user_code"]),
            direct=str(answer.get("verification_uri_complete") or answer["verification_uri"]),
        )
    )
    interval, waited = float(answer.get("interval") or SLOWER_SECONDS), 0.0
    lasts = float(answer["expires_in"])
    while waited < lasts:
        pause(interval)
        waited += interval
        try:
            fetched = authority.fetch_token(device_code=str(answer["device_code"]))
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


def own_name() -> str:
    """Return how this program calls itself: by the machine that it runs on."""
    name = f"cairn on {platform.node() or 'a machine'}"
    return "".join(letter for letter in name if letter.isprintable())[:NAME_MOST]


def _show_code(terminal: Terminal, code: DeviceCode) -> None:
    """Show a person where to go; also with --quiet, since nothing goes on without."""
    if terminal.is_json:
        terminal.show(row={"verification_uri": code.direct, "user_code": code.code}, line="")
    else:
        terminal.err.write(f"Open {code.address} and type {code.code}\nor open {code.direct}\n")
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
