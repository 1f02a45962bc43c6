"""Every hostile value in every field of every call that writes: refused by name, or kept as sent.

The calls and their fields are those that the product declares.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, get_args, get_origin

import pytest
from pydantic import BaseModel

from accounts import tenancy
from accounts.api.endpoints import Endpoint
from config.urls import ENDPOINTS
from tests.edges.audit import surfaces
from tests.edges.audit.surfaces import Write, rest
from tests.edges.audit.world import World
from tests.edges.payloads.conftest import fault_of
from tests.support import payloads, stored
from tests.support.goals import Scale
from tests.support.payloads import Value

QUESTION: Final = rest("search", "", query="carts", project="shop")
WRITES: Final = surfaces.calls()
CALLS: Final = tuple(
    (one, WRITES.get(one.name, QUESTION)) for one in ENDPOINTS if one.body is not None
)
ELSEWHERE: Final = frozenset(
    {"project", "projects", "team", "person", "into", "other", "ancestor", "session", "token"}
)  # fields that name a thing by itself
UNREADABLE: Final = frozenset({"not_json", "not_utf8", "too_deep"})  # then no field is known yet
PROBLEM: Final = "application/problem+json"
SOME: Final = 17  # the short form sends one of so many combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One call with a hostile value in one field."""

    endpoint: Endpoint
    write: Write
    field: str
    lists: Any
    value: Value

    def __str__(self) -> str:
        return f"{self.endpoint.name}.{self.field}: {self.value.name}"


@pytest.mark.goal(name="G8")
def test_a_hostile_value_is_refused_by_name_or_kept_as_sent(
    acme: World, in_organization: tenancy.Tenant, scale: Scale, figure: Callable[[str], None]
) -> None:
    step = scale.of(short=SOME, long=1)
    before = stored.rows()

    sent = [one for number, one in enumerate(_combinations()) if number % step == 0]
    faults = [f"{one} {said}" for one in sent if (said := _fault(acme, one, before))]

    assert not faults, "\n".join(faults[:40])
    figure(
        f"REST: 0 of {len(sent):,} calls broke, {len(payloads.VALUES)} values, {len(CALLS)} calls"
    )


def _combinations() -> Iterator[Sent]:
    for endpoint, write in CALLS:
        for field, lists in _fields(endpoint.body):
            for value in payloads.VALUES:
                yield Sent(endpoint=endpoint, write=write, field=field, lists=lists, value=value)


def _fields(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body; of a list, the type of its elements, else None."""
    for name, field in getattr(body, "model_fields", {}).items():
        kinds = (field.annotation, *get_args(field.annotation))
        elements = [get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple]
        yield field.alias or name, elements[0] if elements else None


def _fault(acme: World, sent: Sent, before: dict[str, int]) -> str | None:
    path = sent.write.path.format(**acme.names)
    example = {
        name: given.format(**acme.names) if isinstance(given, str) else given
        for name, given in sent.write.send.items()
    }
    body = payloads.body_with(example=example, field=sent.field, value=_shaped(sent))
    send = partial(acme.apis[sent.write.by].call, sent.endpoint.method, path, body, If_Match="*")
    return fault_of(send, lambda answer: _wrong(sent, answer, before))


def _shaped(sent: Sent) -> Value:
    """Return the value as the field holds it: in a list, in a sentence, in a memory of many."""
    value = sent.value
    if sent.field == "content" and value.text is not None:
        text = payloads.SENTENCE.format(value.text)
        return Value(name=value.name, raw=json.dumps(text).encode(), text=text)
    if sent.lists is not None:
        is_of_objects = isinstance(sent.lists, type) and issubclass(sent.lists, BaseModel)
        before, after = (b'[{"content": ', b"}]") if is_of_objects else (b"[", b"]")
        return Value(name=value.name, raw=before + value.raw + after, text=value.text)
    return value


def _wrong(sent: Sent, answer: Any, before: dict[str, int]) -> str | None:
    if answer.status_code >= 500:
        return "broke"
    if answer.status_code < 400:
        return _wrong_success(sent, {} if answer.streaming else answer.json())
    if answer["Content-Type"] != PROBLEM:
        return "no problem document"
    if not _is_named(sent, answer.json()):
        return "not named"
    return None if stored.rows() == before else "half stored"


def _wrong_success(sent: Sent, body: dict[str, Any]) -> str | None:
    if sent.value in payloads.REFUSED and not _is_refused_alone(body):
        return "taken"
    told = body.get("memory") or body.get("token") or body
    if sent.value.text is None or sent.field not in told:
        return None
    text, shown = str(_shaped(sent).text), told[sent.field]
    is_kept = text in shown or text.strip() == shown or _is_same_moment(text, shown)
    return None if is_kept or not text.strip() else "changed silently"


def _is_refused_alone(body: dict[str, Any]) -> bool:
    """Say whether the one item of a call for many was refused, by what it says and where."""
    outcomes = body.get("outcomes", [{}])
    return all(one.get("outcome") == "refused" and one["reason"] for one in outcomes)


def _is_same_moment(text: str, shown: Any) -> bool:
    try:
        moments = [datetime.fromisoformat(str(one)) for one in (text, shown)]
    except ValueError:
        return False
    return moments[0] == moments[1]


def _is_named(sent: Sent, problem: dict[str, Any]) -> bool:
    """Say whether a refusal points at the field, or says that there is no field to point at."""
    errors = problem.get("errors", ())
    if any(one["pointer"].startswith(f"/{sent.field}") for one in errors):
        return True
    is_elsewhere = problem["status"] == 404 and sent.field in ELSEWHERE
    if is_elsewhere or problem["status"] == 413 or UNREADABLE & {one["code"] for one in errors}:
        return True
    return sent.field == "content" and "gate" in problem
