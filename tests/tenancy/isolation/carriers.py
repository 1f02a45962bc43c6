"""Ways to name what one may not see inside of a request that is one's own.

Ids and marks of hidden things in filters, lists, nested writes, search text, cursors, headers and
keys. Each probe has a twin that names nothing; the two must be answered alike.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tests.tenancy.isolation.probes import NONE_ID, Ask, Probe, is_asked
from tests.tenancy.isolation.world import Asker, Thing, World, canary

API: Final = "/api/v1/"
ROOM: Final = "/o/{home}/p/{room}/"
NEW: Final = "The east gate opens at nine in the morning."
NOTHING: Final = "canary-nowhere-none"


def _call(method: str, path: str, **given: object) -> Ask:
    return Ask(surface="carrier", policy="", method=method, address=f"{API}{path}", **given)  # type: ignore[arg-type]


def _page(method: str, path: str, **given: object) -> Ask:
    return Ask(surface="carrier", policy="", method=method, address=path, **given)  # type: ignore[arg-type]


ABOUT_A_MEMORY: Final = (
    *(
        _call("GET", "memories", query=query)
        for query in (
            "tags={mark}",
            "files={mark}/store.py",
            "files={mark}*",
            "modules={mark}",
            "author={mark}",
            "q=tag:{mark}",
            "q=file:{mark}",
            "q=%22{mark}%22",
            "q={id}",
            "cursor={id}",
            "project={id}",
            "cursor={cursor}",
            "status=archived,superseded&tags={mark}",
            "sort={id}",
            "limit={id}",
        )
    ),
    *(
        _call("POST", "search", send=body)
        for body in (
            {"query": "stone", "project": "{id}"},
            {"query": "stone", "as_of": "2026-11-20T12:00:00Z", "threshold": 0},
        )
    ),
    _call(
        "POST", "search", send={"query": "{text}", "threshold": 0, "explain": True}, compare="told"
    ),
    _call("POST", "search", send={"query": "{id}", "threshold": 0}, compare="told"),
    _call("POST", "checks/plan", send={"plan": "{text}", "project": "{room}"}, compare="told"),
    _call("POST", "memories", send={"project": "{room}", "content": "{text}"}, compare="told"),
    _call(
        "POST",
        "memories",
        send={"project": "{room}", "content": NEW, "external_id": "{mark}"},
        compare="told",
    ),
    _call(
        "POST",
        "memories/bulk",
        send={"memories": [{"project": "{room}", "content": "{text}", "external_id": "{mark}"}]},
        compare="told",
    ),
    _call(
        "POST",
        "memories",
        send={"project": "{room}", "content": NEW},
        headers={"Idempotency-Key": "{key}"},
        compare="told",
    ),
    _call("PATCH", "memories/{own}", send={"content": "{text}"}, if_match="*", compare="told"),
    _call("PATCH", "memories/{own}", send={"external_id": "{mark}"}, if_match="*", compare="told"),
    _call("PATCH", "memories/{id}", send={"tags": ["x"]}, if_match='"v2"'),
    _call("PATCH", "memories/{id}", send={"scope": "organization"}, if_match="*"),
    _call("DELETE", "memories/{id}", if_match='"v1"', query="reason={mark}"),
    _call("GET", "memories/{id}/", headers={"X-Forwarded-Host": "evil.test"}),
    _call("GET", "memories/{bare}"),
    _call("GET", "memories/{upper}"),
    _call("GET", "jobs/{id}"),
    _call("GET", "projects/{id}"),
    _call("DELETE", "tokens/{id}"),
    _call("GET", "topics/{id}"),
    _call("GET", "conflicts/{id}"),
    _call("GET", "changes", query="project={id}"),
    *(
        _page("GET", f"{ROOM}memories", query=query)
        for query in (
            "peek={id}",
            "q=tag:{mark}",
            "after=2026-11-21T12:00:00~{id}",
            "q=file:{mark}",
        )
    ),
    _page("POST", f"{ROOM}memories/bulk", send={"verb": "pin", "memory": ["{own}", "{id}"]}),
    _page("POST", f"{ROOM}teach/look", send={"content": "{text}"}, compare="told"),
    _page("POST", f"{ROOM}check", send={"kind": "plan", "text": "{text}"}, compare="told"),
    _page("POST", f"{ROOM}teach", send={"content": "{text}"}, compare="told"),
    _page("GET", "/o/{home}/palette", query="q={mark}", compare="told"),
    _page("GET", f"{ROOM}memories", query="q={mark}", compare="told"),
    _page("GET", "/o/{home}/changes", query="after=0&project={id}"),
    _page("GET", f"{ROOM}memories/{{id}}", headers={"HX-Request": "true"}),
)
ABOUT_A_PROJECT: Final = (
    *(_call("GET", "memories", query=query) for query in ("project={slug}", "q=project:{slug}")),
    _call("GET", "changes", query="project={slug}"),
    _call("GET", "projects/{slug}"),
    _call("POST", "search", send={"query": "stone", "project": "{slug}"}),
    _call("POST", "context", send={"query": "stone", "project": "{slug}"}),
    _call("POST", "checks/plan", send={"plan": "Move the stone.", "project": "{slug}"}),
    _call(
        "POST", "search", send={"query": "stone", "mode": "pattern", "projects": ["{slug}"]}
    ),
    _call("GET", "timeline", query="project={slug}"),
    _call("GET", "entities", query="project={slug}"),
    _call("GET", "entities/memories", query="name=stone&project={slug}"),
    _call("GET", "topics", query="project={slug}"),
    _call("GET", "conflicts", query="project={slug}"),
    _call("GET", "actions", query="project={slug}"),
    _call("GET", "files/memories", query="path=a.py&project={slug}"),
    _call("POST", "memories", send={"project": "{slug}", "content": NEW, "scope": "personal"}),
    _call("POST", "memories/bulk", send={"project": "{slug}", "memories": [{"content": NEW}]}),
    _call("POST", "memories/bulk", send={"project": "{room}", "memories": [
          {"content": NEW}, {"content": NEW, "project": "{ref}"}]}),
    _call("POST", "tokens", send={"name": "made", "projects": ["{ref}"], "scopes": ["read"]},
          compare="told"),
    _page("GET", "/o/{home}/palette", query="q=stone&project={slug}"),
    _page("GET", "/o/{home}/changes", query="after=0&project={slug}"),
    _page("POST", "/o/{home}/settings/tokens/new",
          send={"name": "made", "scope": "read", "days": "7", "project": "{slug}"}, compare="told"),
)  # fmt: skip
ABOUT_A_TEAM: Final = (
    _call("POST", "memories", send={"project": "{room}", "content": NEW, "scope": "team",
          "team": "{id}"}),
    _call("POST", "memories", send={"project": "{room}", "content": NEW, "scope": "team",
          "team": "{mark}"}),
    _call("PATCH", "memories/{own}", send={"scope": "team", "team": "{id}"}, if_match="*"),
)  # fmt: skip
ABOUT_AN_ORGANIZATION: Final = (
    _call("GET", "memories", headers={"X-Cairn-Organization": "{org}"}),
    _call(
        "POST",
        "memories",
        send={"content": NEW},
        headers={"X-Cairn-Organization": "{org}"},
        compare="told",
    ),
    _page("GET", "/login/", query="next=/o/{org}/"),
    _page("POST", "/language", send={"language": "en", "next": "/o/{org}/"}),
    _page("POST", "/language", send={"language": "en", "next": "//{org}.test/"}),
)
CARRIERS: Final = (
    ("memory", ABOUT_A_MEMORY),
    ("project", ABOUT_A_PROJECT),
    ("team", ABOUT_A_TEAM),
    ("organization", ABOUT_AN_ORGANIZATION),
)


def smuggled(*, world: World, asker: Asker) -> Iterator[Probe]:
    """Yield the probes of one role: each way, about each thing that is hidden from it."""
    own = _own(world, asker)
    key = "a-key-of-nobody" if asker.name == "owner" else world.kept_key
    for kind, ways in CARRIERS:
        hidden = [one for one in world.things if one.kind == kind and one.label not in asker.sees]
        for ask in (one for one in ways if is_asked(ask=one, asker=asker)):
            for thing in hidden:
                parts = {**own, **_named(thing), "key": key, "cursor": world.cursor}
                twin = {**parts, **_nothing(parts), "key": "a-key-of-nobody"}
                yield Probe(ask=ask, asker=asker, thing=thing, parts=parts, twin=twin)


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
    nothing = replace(
        Thing(kind="", label="", parts={}),
        parts={"id": NONE_ID, "ref": NONE_ID, "memory_id": NONE_ID},
    )
    named = {**_named(nothing), "mark": NOTHING, "slug": "z" * len(parts.get("slug", ""))}
    named["text"] = parts["text"].replace(parts["mark"], NOTHING)
    named["org"] = "z" * len(parts["org"])
    return {name: value for name, value in named.items() if name in parts}
