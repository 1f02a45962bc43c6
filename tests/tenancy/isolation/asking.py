"""Ask one thing as one role, and look at all that comes back.

Every request runs in a transaction that is rolled back, so one probe does not change the next.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from django.db import transaction

from tests.tenancy.isolation.world import Asker, Thing, World

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
class Answer:
    """A response: its status, and headers and body as one text without what is random."""

    status: int
    text: str


def ask(
    *,
    asker: Asker,
    method: str,
    address: str,
    send: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request as a role; a form to pages, JSON to the interface."""
    browser = asker.client
    kept = SimpleCookie(browser.cookies.output(header="", sep=";"))
    is_call = address.startswith("/api/")
    named = {"X-Request-Id": REQUEST_ID, **_credential(asker, is_call), **(headers or {})}
    content, kind = _body(send, is_call)
    with transaction.atomic():
        response = browser.generic(method, address, content, kind, headers=named)
        body = response.getvalue().decode()
        transaction.set_rollback(True)
    browser.cookies = kept
    lines = [
        f"{name}: {value}" for name, value in sorted(response.items())
        if name.lower() not in NOT_COMPARED
    ]  # fmt: skip
    lines += [morsel.OutputString() for morsel in response.cookies.values()]
    return Answer(status=response.status_code, text="\n".join((*lines, "", body)))


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
    marks = {f"{tenant}/{place}" for tenant, place in CANARY.findall(text)}
    ids = {
        f"{thing.kind} {thing.label}" for thing in world.things
        if thing.label not in asker.sees and any(one in text for one in _ids(thing))
    }  # fmt: skip
    return sorted(marks - asker.sees - tells) + ([] if "ids" in tells else sorted(ids))


def _ids(thing: Thing) -> list[str]:
    return [value for value in thing.parts.values() if len(value) == 36]


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
