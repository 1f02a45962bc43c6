"""Two organizations full of marked texts, and everybody who may try to read them.

Each text says where it is from by a canary, `canary-<organization>-<place>`. `SEES` says whose
canaries a role may ever meet; it is written down here, not taken from the code.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.test import Client

from accounts.caller import Caller

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
# What everyone of an organization sees.
ALL = frozenset({"organization", "people", "open", "everyone", "house"})
MANAGED = ALL | {"closed", "vault", "token", "invited", "job", "coreteam", "opsteam"}
SEES = {  # places of acme; the stranger owns globex and sees what is there
    "anonymous": frozenset(),
    "outsider": frozenset(),
    "invited": frozenset({"invited"}),
    "stranger": frozenset(),
    "removed": frozenset(),
    "inactive": frozenset(),
    "viewer": ALL,
    "member": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "elsewhere": ALL | {"vault", "ops", "opsteam"},
    "steward": ALL,
    "admin": MANAGED,
    "owner": MANAGED | {"private", "habit"},
    "reading": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "writing": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "bound": frozenset({"open", "private", "house"}),
    "service": ALL,
}
ROLES = tuple(SEES)
STRANGERS = frozenset({"organization", "people", "open", "everyone", "closed", "core", "coreteam",
                       "opsteam", "personal", "token", "invited", "job", "house",
                       "way"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that has an address; `parts` fill the parameters of addresses."""

    kind: str
    label: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Someone who asks: a browser, and a token where the role has one."""

    name: str
    sees: frozenset[str]
    home: str
    client: Client
    token: str = ""


@dataclass(slots=True, kw_only=True)
class World:
    """Who asks, and what there is."""

    askers: dict[str, Asker] = field(default_factory=dict)
    things: list[Thing] = field(default_factory=list)
    organizations: dict[str, str] = field(default_factory=dict)
    invitations: dict[str, str] = field(default_factory=dict)
    kept_key: str = "isolation-key"
    cursor: str = ""
    callers: dict[str, Caller] = field(default_factory=dict)

    def thing(self, kind: str, label: str) -> Thing:
        """Return the thing of a kind in a place."""
        return next(one for one in self.things if (one.kind, one.label) == (kind, label))


def canary(label: str) -> str:
    """Return the mark of a place, `acme/open` for instance."""
    return f"canary-{label.replace('/', '-')}"
