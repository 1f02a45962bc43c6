"""Every probe: a request, a role, a thing it is about, and what it must not differ from.

matrix.toml says what is asked of each surface, and which status each role gets. A probe about
something hidden has a twin: the same request in which each part the role may not know is replaced
by one that does not exist. Both must be answered alike, to the byte; nothing may be told beyond the
role's own. Every request runs in a transaction that is rolled back, so one probe does not change
the next.

What one may not see can also be named inside of a request that is one's own: `smuggled` puts its
ids and marks there, by the ways that matrix.toml has under `carriers`.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import cache
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.db import transaction

from tests.tenancy.isolation.world import ROLES, Asker, Thing, World, canary

FILE = Path(__file__).parents[1] / "matrix.toml"
ADMIN_PAGES = ("", "add/", "{row}/change/", "{row}/history/", "{row}/delete/", "{row}/")
NAMED_BY_ID = (  # what an address may be about, by its last parameter that is an id
    "memory", "import", "note", "topic", "session", "conflict", "user", "invitation", "token",
    "team", "job", "style",
)  # fmt: skip
PARAMETER = re.compile(r"<\w+:(\w+)>|\(\?P<(\w+)>[^)]*\)|\{(\w+)\}")
NONE_ID = "01936f2e-0000-7000-8000-00000000dead"
NOTHING = "canary-nowhere-none"
API = "/api/"
ALIKE_TO_PAGES = frozenset({"reading", "bound", "service"})
ANYTHING = Thing(kind="", label="", parts={})
SHOWN = 300  # characters of a difference
CANARY = re.compile(r"canary-(acme|globex)-([a-z]+)")
REQUEST_ID = "isolation"
SHORTEST_SENT = 6  # characters; what is shorter stands in every text
RANDOM = (  # what differs from one request to the next
    re.compile(
        r"cairn-csrf=[0-9A-Za-z]+|\"X-CSRFToken\": \"[0-9A-Za-z]{64}\"|value=\"[0-9A-Za-z]{64}\""
    ),
    re.compile(r"(?i)nonce(?:[=:\"'-]|&quot;)+[0-9A-Za-z_-]{16,}"),
    re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)"),
    re.compile(r"(?<=/invite/)[0-9A-Za-z_-]{43}|\"took_ms\":[0-9.]+"),
    re.compile(r"expires=[^;]+"),
)
NOT_COMPARED = frozenset(
    {"ratelimit-remaining", "ratelimit-reset", "date", "expires", "content-length"}
)


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


def policies() -> dict[str, Policy]:
    """Return the policies by name."""
    return {
        name: Policy(
            own=_statuses(row["own"]),
            hidden=_statuses(row["hidden"]),
            tells=frozenset(row.get("tells", ())),
        )
        for name, row in document()["policies"].items()
    }


def _statuses(row: Mapping[str, Any]) -> dict[str, frozenset[int]]:
    """Return the statuses of each role: its own entry, else a group's, else the default."""
    found = dict.fromkeys(ROLES, row.get("default", 0))
    groups: dict[str, list[str]] = document()["groups"]
    for name, cell in row.items():
        found |= dict.fromkeys(groups.get(name, ()), cell)
    found |= {name: cell for name, cell in row.items() if name in ROLES}
    return {
        role: frozenset([cell] if isinstance(cell, int) else cell) for role, cell in found.items()
    }


def asks() -> Iterator[Ask]:
    """Yield every request of the pages, the calls and the operators' site."""
    for name, line in document()["surfaces"].items():
        kind, _, rest = name.partition(" ")
        method, _, path = rest.partition(" ")
        for given in line.get("asks", ()):
            if kind == "page":
                yield Ask(surface=name, address=f"/{rest}", **{"about": _kind(rest), **given})
            elif kind == "rest":
                yield Ask(surface=name, method=method, address=f"/api/v1/{path}", **given)
        for page in ADMIN_PAGES if kind == "admin" else ():
            address, about = f"/admin/{rest.replace('.', '/')}/{page}", line.get("about", "")
            yield Ask(surface=name, policy=line["policy"], address=address, about=about)


def _kind(address: str) -> str:
    for kind in NAMED_BY_ID:
        if f"<uuid:{kind}_id>" in address:
            return kind
    named = {"<str:secret>": "secret", "<slug:project>": "project", "<slug:org>": "organization"}
    return next((kind for part, kind in named.items() if part in address), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One request by one role; `parts` name things, those of `twin` name nothing instead."""

    ask: Ask
    asker: Asker
    thing: Thing
    parts: Mapping[str, str]
    twin: Mapping[str, str] | None

    @property
    def reach(self) -> str:
        """Say whether the role may see all that is named, and finds it there."""
        if self.twin is not None:
            return "hidden"
        is_of_project = self.thing.kind == "memory" and "<slug:project>" in self.ask.address
        is_elsewhere = is_of_project and self.parts["project"] != self.thing.parts["project"]
        return "elsewhere" if is_elsewhere else "own"


def probes(*, world: World, ask: Ask, asker: Asker) -> Iterator[Probe]:
    """Yield the probes of one request by one role: about each thing, in its and a seen project."""
    if not is_asked(ask=ask, asker=asker):
        return
    tenant = asker.home.partition("-")[0]
    room = {"org": asker.home, "project": f"canary-{tenant}-open"}
    has_room = {"acme/organization", "globex/organization"} & asker.sees
    for thing in _things(world, ask):
        is_of_project = thing.kind == "memory" and "<slug:project>" in ask.address
        for place in ({}, room) if is_of_project and has_room else ({},):
            parts = {**thing.parts, **place, **ask.fill}
            twin = _twin(ask, asker, thing, parts)
            yield Probe(ask=ask, asker=asker, thing=thing, parts=parts, twin=twin)


def is_asked(*, ask: Ask, asker: Asker) -> bool:
    """Say whether this role asks it: a token opens no page, so one of them stands for all."""
    return ask.address.startswith(API) or asker.name not in ALIKE_TO_PAGES


def filled(*, text: str, parts: Mapping[str, str]) -> str:
    """Return an address, or a text to send, with its parameters filled in."""
    plain = text.removeprefix("/^") if text.startswith("/^") else text
    plain = re.sub(r"\^(?=\(|\w)", "", plain).replace("/?$", "").replace("$", "")
    address = PARAMETER.sub(
        lambda found: parts[next(name for name in found.groups() if name)], plain
    )
    return f"/{address}" if text.startswith("/^") else address


def sending(*, value: Any, parts: Mapping[str, str]) -> Any:
    """Return what is sent, with its parameters filled in."""
    if isinstance(value, str):
        return value.format(**parts) if "{" in value else value
    if isinstance(value, Mapping):
        return {name: sending(value=one, parts=parts) for name, one in value.items()}
    if isinstance(value, list):
        return [sending(value=one, parts=parts) for one in value]
    return value


def _things(world: World, ask: Ask) -> tuple[Thing, ...]:
    if ask.about == "secret":
        return tuple(
            Thing(kind="secret", label=label, parts={"secret": secret})
            for label, secret in world.invitations.items()
        )
    if not ask.about:
        return (ANYTHING,)
    found = tuple(thing for thing in world.things if thing.kind == ask.about)
    if ask.by == "slug":
        return tuple(
            Thing(kind=one.kind, label=one.label, parts={**one.parts, "ref": one.parts["slug"]})
            for one in found
        )
    return found


def _twin(
    ask: Ask, asker: Asker, thing: Thing, parts: Mapping[str, str]
) -> Mapping[str, str] | None:
    """Replace what the role may not know, from the first hidden part on; None for nothing."""
    if thing is ANYTHING or thing.kind == "secret":
        return None
    twin, is_hidden = dict(parts), False
    for name, label in _path(ask, thing, parts):
        is_hidden = is_hidden or label not in asker.sees
        if is_hidden:
            twin[name] = "z" * len(parts[name]) if name in {"org", "project", "slug"} else NONE_ID
    if ask.by == "slug" and is_hidden:
        twin["ref"] = "z" * len(parts["ref"])
    return twin if is_hidden else None


def _path(ask: Ask, thing: Thing, parts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the parts that name things, outermost first, with the place each is of."""
    tenant = parts["org"].partition("-")[0]
    if "<slug:org>" in ask.address:
        yield "org", f"{tenant}/organization"
    if "<slug:project>" in ask.address:
        yield "project", "/".join(parts["project"].split("-")[1:])
    for name in parts:
        if name.endswith("id") or name == "ref":
            yield name, thing.label


def smuggled(*, world: World, asker: Asker) -> Iterator[Probe]:
    """Yield the probes of one role: each way, about each thing that is hidden from it."""
    own = _own(world, asker)
    key = "a-key-of-nobody" if asker.name == "owner" else world.kept_key
    for kind, rows in document()["carriers"].items():
        hidden = [one for one in world.things if one.kind == kind and one.label not in asker.sees]
        ways = (ask for row in rows for ask in _carriers(row))
        for ask in (one for one in ways if is_asked(ask=one, asker=asker)):
            for thing in hidden:
                parts = {**own, **_named(thing), "key": key, "cursor": world.cursor}
                twin = {**parts, **_nothing(parts), "key": "a-key-of-nobody"}
                yield Probe(ask=ask, asker=asker, thing=thing, parts=parts, twin=twin)


def _carriers(row: Mapping[str, Any]) -> Iterator[Ask]:
    given = {name: value for name, value in row.items() if name not in {"query", "queries"}}
    for query in row.get("queries", [row.get("query", "")]):
        yield Ask(surface="carrier", policy="", query=query, **given)


def _own(world: World, asker: Asker) -> dict[str, str]:
    tenant = "globex" if asker.home == world.organizations["globex"] else "acme"
    own = world.thing("memory", f"{tenant}/open").parts["id"]
    return {"home": asker.home, "room": canary(f"{tenant}/open"), "own": own}


def _named(thing: Thing) -> dict[str, str]:
    mark = canary(thing.label)
    identifier = thing.parts.get("id", "")
    return {
        **thing.parts,
        "mark": mark,
        "text": f"{mark} is kept under the third stone of the northern warehouse now.",
        "bare": identifier.replace("-", ""),
        "upper": identifier.upper(),
    }


def _nothing(parts: Mapping[str, str]) -> dict[str, str]:
    """Return the same names, of nothing."""
    ids = {"id": NONE_ID, "ref": NONE_ID, "memory_id": NONE_ID}
    nothing = Thing(kind="", label="", parts=ids)
    named = {**_named(nothing), "mark": NOTHING, "slug": "z" * len(parts.get("slug", ""))}
    named["text"] = parts["text"].replace(parts["mark"], NOTHING)
    named["org"] = "z" * len(parts["org"])
    return {name: value for name, value in named.items() if name in parts}


def answer(*, probe: Probe, parts: Mapping[str, str]) -> tuple[int, str]:
    """Send a probe, a form to pages and JSON to the interface.

    Returns the status, and headers and body as one text.
    """
    ask, browser, given = probe.ask, probe.asker.client, {**parts, "row": _row(parts)}
    kept = SimpleCookie(browser.cookies.output(header="", sep=";"))
    address = filled(text=ask.address, parts=given)
    is_call = address.startswith(API)
    if ask.query:
        address += f"?{filled(text=ask.query, parts=given)}"
    headers = {
        "X-Request-Id": "isolation",
        **_credential(probe.asker, is_call),
        **({"If-Match": ask.if_match} if ask.if_match else {}),
        **{name: text.format(**given) for name, text in ask.headers.items()},
    }
    send = None if ask.send is None else sending(value=ask.send, parts=given)
    with transaction.atomic():
        response = browser.generic(ask.method, address, *_body(send, is_call), headers=headers)
        body = response.getvalue().decode()
        transaction.set_rollback(True)
    browser.cookies = kept
    lines = [
        f"{name}: {value}" for name, value in sorted(response.items())
        if name.lower() not in NOT_COMPARED
    ]  # fmt: skip
    lines += [morsel.OutputString() for morsel in response.cookies.values()]
    return response.status_code, "\n".join((*lines, "", body))


def plain(*, text: str, sent: Iterable[str]) -> str:
    """Return a text without what was sent and without what is random."""
    for pattern in RANDOM:
        text = pattern.sub("*", text)
    for value in sorted(set(sent), key=len, reverse=True):
        if len(value) >= SHORTEST_SENT:
            text = text.replace(value, "SENT")
    return text


def leaks(*, world: World, asker: Asker, text: str, tells: frozenset[str]) -> list[str]:
    """Return the marks and ids in a text, of which the role should have learnt nothing."""
    marks = {f"{tenant}/{place}" for tenant, place in CANARY.findall(text)} - asker.sees - tells
    ids = {
        f"{thing.kind} {thing.label}" for thing in world.things
        if thing.label not in asker.sees and "ids" not in tells
        and any(len(one) == 36 and one in text for one in thing.parts.values())
    }  # fmt: skip
    return [*sorted(marks), *sorted(ids)]


def _credential(asker: Asker, is_call: bool) -> dict[str, str]:
    """Return the token, which opens no page, or what a session needs beside its cookie."""
    if asker.token and (is_call or not asker.client.cookies):
        return {"Authorization": f"Bearer {asker.token}"}
    return {"X-Cairn-Organization": asker.home} if is_call else {}


def _body(send: Any, is_call: bool) -> tuple[str, str]:
    if send is None:
        return "", "application/octet-stream"
    if is_call:
        return json.dumps(send), "application/json"
    return urlencode(send, doseq=True), "application/x-www-form-urlencoded"


def _row(parts: Mapping[str, str]) -> str:
    return next((value for name, value in parts.items() if name.endswith("id")), "1")


@dataclass(slots=True, kw_only=True)
class Judge:
    """Sends probes, keeps the answers about nothing, and counts what it has sent."""

    world: World
    policies: Mapping[str, Policy]
    sent: int = 0
    twins: dict[tuple[str, ...], str] = field(default_factory=dict)

    def faults(self, probe: Probe) -> list[str]:
        """Return what is wrong with the answer to a probe."""
        status, text, compared = self._answer(probe, probe.parts)
        policy = self.policies.get(probe.ask.policy)
        tells: frozenset[str] = policy.tells if policy else frozenset()
        found = _status(probe, policy, status)
        told = leaks(world=self.world, asker=probe.asker, text=text, tells=tells)
        found += [f"tells of {leak}" for leak in told]
        if probe.twin is not None:
            found += _difference(self._twin(probe, probe.twin), compared)
        where = f"{probe.ask.name} by {probe.asker.name} about {probe.thing.label or 'nothing'}"
        return [f"{where}: {fault}" for fault in found]

    def _twin(self, probe: Probe, parts: Mapping[str, str]) -> str:
        key = (repr(probe.ask), probe.asker.name, *sorted(parts.values()))
        if key not in self.twins:
            self.twins[key] = self._answer(probe, parts)[2]
        return self.twins[key]

    def _answer(self, probe: Probe, parts: Mapping[str, str]) -> tuple[int, str, str]:
        """Return the status, the text without what is random, and what must be the same.

        That is everything, or what became of a write that makes new ids.
        """
        self.sent += 1
        status, text = answer(probe=probe, parts=parts)
        text = plain(text=text, sent=parts.values())
        if probe.ask.compare == "all":
            return status, text, text
        told = re.findall(r'"(?:outcome|gate|reason|code)":"[^"]*"|Idempotency-Replayed', text)
        return status, text, f"{status} {told}"


def _status(probe: Probe, policy: Policy | None, status: int) -> list[str]:
    if policy is None:
        return [f"answered {status}"] if status >= 500 else []
    expected = (policy.own if probe.reach == "own" else policy.hidden)[probe.asker.name]
    if status in expected:
        return []
    return [f"{probe.reach}, answered {status}, not {sorted(expected)}"]


def _difference(nothing: str, something: str) -> list[str]:
    if nothing == something:
        return []
    lines = unified_diff(nothing.splitlines(), something.splitlines(), "nothing", "hidden", n=0)
    return [f"differs from nothing: {' '.join(lines)[:SHOWN]}"]
