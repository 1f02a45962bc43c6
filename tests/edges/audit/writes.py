"""One write of a surface: what is sent, what its entry tells, and how it is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

CONTENT: Final = "Prices in the cart are cached for sixty seconds, so tests clear them first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write; {names} in its path and its data are those of the world."""

    path: str
    act: str
    method: str = "POST"
    send: Mapping[str, Any] = field(default_factory=dict)
    by: str = "owner"
    refused_to: str = "viewer"
    wrong: Mapping[str, Any] | None = None
    in_organization: str = "acme"


def rest(path: str, act: str, method: str = "POST", **send: Any) -> Write:
    """Return a write over REST."""
    return Write(path=path, act=act, method=method, send=send, by="writer", refused_to="reader")


def admin(path: str, act: str, **send: Any) -> Write:
    """Return a write of the operator's."""
    return Write(path=f"/admin/accounts/{path}", act=act, send=send, by="operator")


def page(path: str, act: str, **send: Any) -> Write:
    """Return a write of a page."""
    return Write(path=f"/o/acme/{path}", act=act, send=send)
