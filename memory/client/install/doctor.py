"""Checks of this machine and its connection to the server.

A check that cannot be made because an earlier one failed is left out.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from .. import configuration
from ..configuration import Connection, Places
from ..errors import ClientError
from ..transcripts import finder
from . import installer
from .harnesses import HARNESSES, SCRIPT, Harness

if TYPE_CHECKING:
    from ..api import Client

SKEW_MOST_SECONDS: Final = 120  # between two clocks; default
MEND: Final = "Mend the file."
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A finding: what was looked at, whether it is well, what was seen, how to mend it."""

    name: str
    is_well: bool
    detail: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        """Write it down."""
        return {"check": self.name, "ok": self.is_well, "detail": self.detail, "fix": self.fix}


def check_settings(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the file with the token, and at the address it goes to."""
    if places.file.exists():
        is_well = configuration.is_private(path=places.file)
        detail = f"{places.file}{'' if is_well else ' can be read by others'}"
        fix = "" if is_well else f"chmod 600 {places.file}"
        yield Probe(name="settings", is_well=is_well, detail=detail, fix=fix)
    is_well = not connection.is_unencrypted
    detail = connection.url if is_well else f"{connection.url}: the token travels in the clear"
    yield Probe(name="address", is_well=is_well, detail=detail, fix="" if is_well else "Use https.")


def check_server(*, client: "Client", connection: Connection, now: datetime) -> Iterator[Probe]:
    """Look at the server, the clock, the token, the project and MCP."""
    try:
        server_time, seconds = client.greet()
    except ClientError as fault:
        yield Probe(name="server", is_well=False, detail=fault.detail, fix=fault.hint)
        return
    yield Probe(name="server", is_well=True, detail=f"answers in {seconds * 1000:.0f} ms")
    if server_time:
        skew = abs((parsedate_to_datetime(server_time).astimezone(UTC) - now).total_seconds())
        is_well = skew <= SKEW_MOST_SECONDS
        fix = "" if is_well else "Set the clock of this machine."
        yield Probe(name="clock", is_well=is_well, detail=f"{skew:.0f} s apart", fix=fix)
    token = _check_token(client)
    yield token
    if token.is_well:
        yield _check_project(client, connection)
        yield _check_mcp(client)


def check_harnesses(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the programs that are here: whether they are connected, and what they wrote."""
    for harness in HARNESSES.values():
        if harness.is_there(home=places.home):
            yield _check_harness(harness, places, connection)
    script = places.home / SCRIPT
    if script.exists():
        missing = [one for one in ("sh", "curl") if shutil.which(one) is None]
        detail = f"{' and '.join(missing)} is missing" if missing else f"{script} can run"
        fix = f"Install {' and '.join(missing)}." if missing else ""
        yield Probe(name="hooks", is_well=not missing, detail=detail, fix=fix)
    for source in finder.SOURCES.values():
        found = tuple(finder.find_transcripts(home=places.home, names=(source.name,)))
        if found:
            size = sum(one.size for one in found) / 1_000_000
            detail = f"{len(found)} of {source.name}, {size:.1f} MB"
            yield Probe(name="transcripts", is_well=True, detail=detail)


def _check_token(client: "Client") -> Probe:
    try:
        me = client.me()
    except ClientError as fault:
        return Probe(name="token", is_well=False, detail=fault.detail, fix="cairn login")
    missing = [scope for scope in NEEDED if scope not in me.scopes]
    detail = f"{me.agent}: {me.role} of {me.organization}, {', '.join(me.scopes)}"
    if missing:
        fix = f"Make a token with the scope {' and '.join(missing)}, then cairn login"
        return Probe(name="token", is_well=False, detail=detail, fix=fix)
    return Probe(name="token", is_well=True, detail=detail)


def _check_project(client: "Client", connection: Connection) -> Probe:
    slugs = [str(one.get("slug")) for one in client.projects()]
    seen = f"sees {', '.join(slugs[:5]) or 'no project'}"
    if not connection.project:
        return Probe(name="project", is_well=True, detail=f"none by default; {seen}")
    is_well = connection.project in slugs
    detail = connection.project if is_well else f"{connection.project} is not seen; {seen}"
    fix = "" if is_well else "cairn login --project SLUG"
    return Probe(name="project", is_well=is_well, detail=detail, fix=fix)


def _check_mcp(client: "Client") -> Probe:
    try:
        answer = client.speak_mcp(message=HELLO)
    except ClientError as fault:
        return Probe(name="mcp", is_well=False, detail=fault.detail, fix=fault.hint)
    result = answer.get("result")
    if not isinstance(result, dict):
        return Probe(name="mcp", is_well=False, detail="refuses")
    return Probe(name="mcp", is_well=True, detail=f"speaks {result.get('protocolVersion', '')}")


def _check_harness(harness: Harness, places: Places, connection: Connection) -> Probe:
    planned = tuple(installer.plan(places=places, connection=connection, harnesses=(harness,)))
    broken = next((one for one in planned if one.fault is not None), None)
    if broken is not None and broken.fault is not None:
        detail = f"{broken.path}: {broken.fault.detail}"
        return Probe(name=harness.name, is_well=False, detail=detail, fix=broken.fault.hint or MEND)
    missing = [one.path.name for one in planned if one.changes]
    if missing:
        detail = f"not connected as here: {', '.join(missing)}"
        fix = f"cairn init --harness {harness.name}"
        return Probe(name=harness.name, is_well=False, detail=detail, fix=fix)
    return Probe(name=harness.name, is_well=True, detail="connected")
