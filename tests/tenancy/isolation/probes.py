"""Every probe: a request, a role, a thing it is about, and what it must not differ from.

A probe about something hidden has a twin: the same request in which each part the role may not know
is replaced by one that does not exist. Both must be answered alike, to the byte.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.tenancy.isolation.matrix import Ask
from tests.tenancy.isolation.world import Asker, Thing, World

PARAMETER = re.compile(r"<\w+:(\w+)>|\(\?P<(\w+)>[^)]*\)|\{(\w+)\}")
NONE_ID = "01936f2e-0000-7000-8000-00000000dead"
API = "/api/"
ALIKE_TO_PAGES = frozenset({"reading", "bound", "service"})
ANYTHING = Thing(kind="", label="", parts={})


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
        return "own" if self._is_at_home else "elsewhere"

    @property
    def _is_at_home(self) -> bool:
        if self.thing.kind != "memory" or "<slug:project>" not in self.ask.address:
            return True
        return self.parts["project"] == self.thing.parts["project"]


def probes(*, world: World, ask: Ask, asker: Asker) -> Iterator[Probe]:
    """Yield the probes of one request by one role."""
    if not is_asked(ask=ask, asker=asker):
        return
    for thing in _things(world, ask):
        yield _probe(ask, asker, thing, {**thing.parts, **ask.fill})
        if thing.kind == "memory" and "<slug:project>" in ask.address and _has_room(asker):
            yield _probe(ask, asker, thing, {**thing.parts, **_room(asker), **ask.fill})


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


def _has_room(asker: Asker) -> bool:
    return bool({"acme/organization", "globex/organization"} & asker.sees)


def _room(asker: Asker) -> dict[str, str]:
    """Return a project that the role may see."""
    tenant = asker.home.partition("-")[0]
    return {"org": asker.home, "project": f"canary-{tenant}-open"}


def _probe(ask: Ask, asker: Asker, thing: Thing, parts: Mapping[str, str]) -> Probe:
    twin = _twin(ask, asker, thing, parts)
    return Probe(ask=ask, asker=asker, thing=thing, parts=parts, twin=twin)


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
