"""Where an act comes from, and the door to the audit log.

The log is a tenant table and `teams.audit` writes it; accounts stands below teams and changes
organizations too, so it speaks through a door that teams opens when it is loaded. An edge says
once where its acts come from (`coming_from`, or `arrive` for a request); nobody below passes it on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.identifiers import as_ip
from accounts.models import Organization


class Surface(StrEnum):
    """The ways in. `PROGRAM`: code that ran without one of them."""

    REST = "rest"
    MCP = "mcp"
    PAGE = "page"
    ADMIN = "admin"
    COMMAND = "command"
    JOB = "job"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an act comes from: the way in, the id of the request or job, the peer as it was said.

    Callers behind a proxy can claim any text to be their address; only `ip` is believed.
    """

    surface: Surface
    request_id: str = ""
    address: str = ""

    @property
    def ip(self) -> str:
        """The address as canonical text, empty when it is none."""
        return as_ip(text=self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who acts on an organization without calling for it: an operator, a newcomer."""

    user_id: UUID | None
    source_interface: str
    token_id: None = None
    agent: str = ""


Actor: TypeAlias = Caller | Person
Writer = Callable[..., None]  # with the parameters of `append`
_nowhere = Origin(surface=Surface.PROGRAM)
_origin: ContextVar[Origin] = ContextVar("cairn_origin", default=_nowhere)
_writers: list[Writer] = []


def origin() -> Origin:
    """Return where the running act comes from."""
    return _origin.get()


def arrive(*, origin: Origin) -> None:
    """Say where everything that the running task does from now on comes from."""
    _origin.set(origin)


def depart() -> None:
    """Forget where acts came from."""
    _origin.set(_nowhere)


@contextmanager
def coming_from(*, origin: Origin) -> Iterator[None]:
    """Say where the acts of a block come from."""
    before = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(before)


def open_door(*, writer: Writer) -> None:
    """Let entries be written by this function from now on."""
    _writers[:] = [writer]


@contextmanager
def unit_of(who: Caller | Organization) -> Iterator[None]:
    """Open a unit of an organization: an act and its entry commit together or not at all.

    Of a caller's, or of one for which somebody acts who does not call for it. Raises OtherTenant
    inside of another one.
    """
    with tenancy.enter(who.tenant), tenancy.unit():
        yield


def append(
    act: str,
    object_type: str,
    object_id: str,
    *,
    caller: Actor,
    details: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Append one entry at the end of the open unit. Raises NoTenant outside of one.

    `details` holds ids and names of things, never their content.
    """
    (write,) = _writers
    write(act, object_type, object_id, caller=caller, details=details, fields=fields)
