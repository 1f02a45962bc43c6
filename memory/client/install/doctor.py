"""Checks of this machine and its connection to the server.

A check that cannot be made because an earlier one failed is left out.
"""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from .. import configuration
from ..configuration import Connection, Places
from ..errors import ClientError
from ..transcripts import finder
from . import installer
from .harnesses import HARNESSES, SCRIPT, is_there

if TYPE_CHECKING:
    from ..api import Client

SKEW_MOST_SECONDS: Final = 120  # between two clocks; default
NEEDED: Final = ("read", "write")  # scopes
HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "cairn-cli", "version": "1"},
    },
}


class Probe(NamedTuple):
    """A finding: what was looked at, whether it is well, what was seen, how to mend it."""

    name: str
    is_well: bool
    detail: str
    fix: str = ""


def check_settings(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the file with the token, and at the address it goes to."""
    if places.file.exists() and configuration.is_private(path=places.file):
        yield Probe("settings", True, str(places.file))
    elif places.file.exists():
        fix = f"chmod 600 {places.file}"
        yield Probe("settings", False, f"{places.file} can be read by others", fix)
    if connection.is_unencrypted:
        detail = f"{connection.url}: the token travels in the clear"
        yield Probe("address", False, detail, "Use https.")
    else:
        yield Probe("address", True, connection.url)


def check_server(*, client: "Client", connection: Connection, now: datetime) -> Iterator[Probe]:
    """Look at the server, the clock, the token, the project and MCP."""
    try:
        server_time, seconds = client.greet()
    except ClientError as fault:
        yield Probe("server", False, fault.detail, fault.hint)
        return
    yield Probe("server", True, f"answers in {seconds * 1000:.0f} ms")
    if server_time:
        skew = abs((parsedate_to_datetime(server_time).astimezone(UTC) - now).total_seconds())
        is_well = skew <= SKEW_MOST_SECONDS
        fix = "" if is_well else "Set the clock of this machine."
        yield Probe("clock", is_well, f"{skew:.0f} s apart", fix)
    token = _check_token(client)
    yield token
    if token.is_well:
        yield _check_project(client, connection)
        yield _check_mcp(client)


def check_harnesses(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the programs that are here: whether they are connected, and what they wrote."""
    for harness in HARNESSES:
        if is_there(harness=harness, home=places.home):
            yield _check_harness(harness, places, connection)
    script = places.home / SCRIPT
    if script.exists():
        missing = " and ".join(one for one in ("sh", "curl") if shutil.which(one) is None)
        if missing:
            yield Probe("hooks", False, f"{missing} is missing", f"Install {missing}.")
        else:
            yield Probe("hooks", True, f"{script} can run")
    for name in finder.SOURCES:
        sizes = [one.size for one in finder.find_transcripts(home=places.home, name=name)]
        if sizes:
            detail = f"{len(sizes)} of {name}, {sum(sizes) / 1_000_000:.1f} MB"
            yield Probe("transcripts", True, detail)


def _check_token(client: "Client") -> Probe:
    try:
        me = client.me()
    except ClientError as fault:
        return Probe("token", False, fault.detail, "cairn login")
    missing = " and ".join(scope for scope in NEEDED if scope not in me.scopes)
    detail = f"{me.agent}: {me.role} of {me.organization}, {', '.join(me.scopes)}"
    fix = f"Make a token with the scope {missing}, then cairn login" if missing else ""
    return Probe("token", not missing, detail, fix)


def _check_project(client: "Client", connection: Connection) -> Probe:
    slugs = [str(one.get("slug")) for one in client.projects()]
    seen = f"sees {', '.join(slugs[:5]) or 'no project'}"
    if not connection.project:
        return Probe("project", True, f"none by default; {seen}")
    if connection.project in slugs:
        return Probe("project", True, connection.project)
    detail = f"{connection.project} is not seen; {seen}"
    return Probe("project", False, detail, "cairn login --project SLUG")


def _check_mcp(client: "Client") -> Probe:
    try:
        result = client.speak_mcp(message=HELLO).get("result")
    except ClientError as fault:
        return Probe("mcp", False, fault.detail, fault.hint)
    if not isinstance(result, dict):
        return Probe("mcp", False, "refuses")
    return Probe("mcp", True, f"speaks {result.get('protocolVersion', '')}")


def _check_harness(harness: str, places: Places, connection: Connection) -> Probe:
    planned = tuple(installer.plan(places=places, connection=connection, harnesses=(harness,)))
    for one in planned:
        if one.fault is not None:
            fix = one.fault.hint or "Mend the file."
            return Probe(harness, False, f"{one.path}: {one.fault.detail}", fix)
    missing = ", ".join(one.path.name for one in planned if one.changes)
    if missing:
        fix = f"cairn init --harness {harness}"
        return Probe(harness, False, f"not connected as here: {missing}", fix)
    return Probe(harness, True, "connected")
