"""matrix.toml as values: what is asked of each surface, and which status each role gets."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.tenancy.isolation.world import ROLES

FILE = Path(__file__).parents[1] / "matrix.toml"
ADMIN_PAGES = ("", "add/", "{row}/change/", "{row}/history/", "{row}/delete/", "{row}/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request that is made of a surface, for every role and every thing it can be about."""

    surface: str
    policy: str
    address: str
    method: str = "GET"
    about: str = ""
    by: str = ""
    query: str = ""
    if_match: str = ""
    compare: str = "all"
    send: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fill: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Say what is asked, for people."""
        return f"{self.method} {self.address}{'?' if self.query else ''}{self.query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The statuses each role gets about what it may see, and about what it may not."""

    own: Mapping[str, frozenset[int]]
    hidden: Mapping[str, frozenset[int]]
    tells: frozenset[str]


@cache
def document() -> dict[str, Any]:
    """Return the file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def listed() -> frozenset[str]:
    """Return the names of all surfaces that have a line."""
    return frozenset(document()["surfaces"])


def policies() -> dict[str, Policy]:
    """Return the policies by name."""
    return {name: _policy(row) for name, row in document()["policies"].items()}


def asks() -> tuple[Ask, ...]:
    """Return every request of the pages, the calls and the operators' site."""
    return tuple(ask for name, line in document()["surfaces"].items() for ask in _of(name, line))


def _policy(row: Mapping[str, Any]) -> Policy:
    return Policy(
        own=_statuses(row["own"]),
        hidden=_statuses(row["hidden"]),
        tells=frozenset(row.get("tells", ())),
    )


def _statuses(row: Mapping[str, Any]) -> dict[str, frozenset[int]]:
    """Return the statuses of each role: its own entry, else a group's, else the default."""
    found = dict.fromkeys(ROLES, row.get("default", 0))
    groups: dict[str, list[str]] = document()["groups"]
    for name, cell in row.items():
        found |= dict.fromkeys(groups.get(name, ()), cell)
    found |= {name: cell for name, cell in row.items() if name in ROLES}
    several = {role: [cell] if isinstance(cell, int) else cell for role, cell in found.items()}
    return {role: frozenset(cells) for role, cells in several.items()}


def _of(name: str, line: Mapping[str, Any]) -> Iterator[Ask]:
    kind, _, rest = name.partition(" ")
    if kind == "page":
        for given in line["asks"]:
            yield Ask(surface=name, address=f"/{rest}", **{"about": _kind(rest), **given})
    elif kind == "rest":
        method, _, path = rest.partition(" ")
        for given in line["asks"]:
            yield Ask(surface=name, method=method, address=f"/api/v1/{path}", **given)
    elif kind == "admin":
        for page in ADMIN_PAGES:
            address = f"/admin/{rest.replace('.', '/')}/{page}"
            yield Ask(
                surface=name, policy=line["policy"], address=address, about=line.get("about", "")
            )


def _kind(address: str) -> str:
    """Return what an address is about: its last parameter that is an id."""
    for parameter in (
        "memory",
        "import",
        "note",
        "topic",
        "session",
        "conflict",
        "user",
        "invitation",
        "token",
        "team",
        "job",
        "style",
    ):
        if f"<uuid:{parameter}_id>" in address:
            return parameter
    if "<str:secret>" in address:
        return "secret"
    if "<slug:project>" in address:
        return "project"
    return "organization" if "<slug:org>" in address else ""
