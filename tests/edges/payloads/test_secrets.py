"""A secret in every text field of every write: nothing keeps, logs or repeats it.

The calls and their fields are those that the product declares, the forms those that the table of
writes lists, the tools those that MCP offers.
"""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from django.test import Client

from accounts.api.endpoints import Endpoint
from accounts.authentication import entered
from config.telemetry import LineFormatter
from memory.mcp.server import TOOLS
from tests.edges.audit.surfaces import Write
from tests.edges.audit.world import World
from tests.edges.payloads.conftest import call, tools_of
from tests.edges.payloads.test_mcp import GOOD
from tests.edges.payloads.test_pages import FORMS, OPTIONAL
from tests.edges.payloads.test_rest import CALLS
from tests.support import secret_sending
from tests.support.goals import Scale
from tests.support.live import Place, committed
from tests.support.secret_sending import SENT, fields_of, held_in, planted

pytestmark = pytest.mark.django_db
SOME: Final = 5  # the short form sends one of so many combinations of field and secret
FORM: Final = "application/x-www-form-urlencoded"
WHERE_ONE_IS: Final = ("/language", "next")  # the page to go back to, which is only answered
OF_ONESELF: Final = frozenset({"/login/", "/signup/", "/password/reset/"})  # whose fields are
HEADERS: Final = ("Idempotency_Key", "X_Request_Id", "X_Cairn_Agent", "User_Agent")
QUERIES: Final = ("memories?q={}", "projects/{}", "memories?nothing={}")


@pytest.fixture(scope="module")
def apart(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Place]:
    """The organization whose agent calls by MCP."""
    with django_db_blocker.unblock(), committed(slug="secrets") as place:
        yield place


@pytest.mark.goal(name="G16")
@pytest.mark.usefixtures("in_organization")
def test_no_call_keeps_a_secret(
    acme: World,
    scale: Scale,
    caplog: pytest.LogCaptureFixture,
    figure: Callable[[str], None],
) -> None:
    caplog.set_level(logging.DEBUG)
    sent = list(_calls())[:: scale.of(short=SOME, long=1)]

    faults = [fault for one in sent if (fault := _called(acme, *one))]

    assert faults == []
    assert secret_sending.kept() == []
    assert not _is_logged(caplog)
    figure(f"REST: 0 of {len(sent):,} secrets kept, logged or repeated, {len(CALLS)} calls")


@pytest.mark.usefixtures("in_organization")
def test_no_header_and_no_query_keeps_a_secret(
    acme: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api, memory = acme.apis["writer"], f"memories/{acme.names['memory']}"

    for number, secret in enumerate(SENT):
        answers = [
            *(
                api.post("projects", {"slug": f"{number}-{n}"}, **{HEADERS[n]: secret})
                for n in range(4)
            ),
            api.delete(f"{memory}?reason={secret}", If_Match="*"),
            *(api.get(path.format(secret)) for path in QUERIES),
        ]
        assert [said for one in answers if (said := _wrong(one))] == []
    assert secret_sending.kept() == []
    assert not _is_logged(caplog)


@pytest.mark.goal(name="G16")
def test_no_form_keeps_a_secret(
    acme: World,
    scale: Scale,
    caplog: pytest.LogCaptureFixture,
    figure: Callable[[str], None],
) -> None:
    caplog.set_level(logging.DEBUG)
    sent = list(_forms())[:: scale.of(short=SOME, long=1)]

    faults = [fault for one in sent if (fault := _posted(acme, *one))]

    assert faults == []
    with entered(acme.caller):
        assert secret_sending.kept() == []
    assert not _is_logged(caplog)
    figure(f"pages: 0 of {len(sent):,} secrets kept, logged or repeated, {len(FORMS)} forms")


@pytest.mark.goal(name="G16")
def test_no_tool_keeps_a_secret(
    address: str, apart: Place, caplog: pytest.LogCaptureFixture, figure: Callable[[str], None]
) -> None:
    caplog.set_level(logging.DEBUG)
    sent = list(_arguments())

    with tools_of(address, apart) as http:
        answers = [(*one, json.dumps(call(http, *one).json())) for one in sent]

    assert [f"{name}: {given}" for name, given, said in answers if held_in(said)] == []
    with entered(apart.caller):
        assert secret_sending.kept() == []
    assert not _is_logged(caplog)
    figure(f"MCP: 0 of {len(sent):,} secrets kept, logged or repeated, {len(TOOLS)} tools")


def test_a_refusal_names_field_kind_and_place_and_a_question_goes_on_without_a_secret(
    acme: World,
) -> None:
    api = acme.apis["writer"]

    answer = api.post("projects", {"slug": "x", "name": f"Shop {SENT[0]}"})
    found = api.post("search", {"query": f"when do carts expire with {SENT[0]}", "project": "shop"})
    alone = api.post("search", {"query": SENT[0]})

    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    (fault,) = problem["errors"]
    assert (fault["pointer"], fault["code"]) == ("/name", "secret")
    assert "vendor_key at line 1, column 6" in fault["detail"]
    assert found.status_code == 200
    assert "secret_left_out" in found.json()["degraded"]
    assert found.json()["results"]
    assert (alone.status_code, alone.json()["errors"][0]["pointer"]) == (422, "/query")


def _calls() -> Iterator[tuple[Endpoint, Write, Any]]:
    """Yield every call with every secret in each of its fields."""
    for endpoint, write in CALLS:
        for path, shape in () if endpoint.body is None else fields_of(endpoint.body):
            for secret in SENT:
                example = dict(write.send)
                body = planted(example=example, path=path, shape=shape, secret=secret)
                yield endpoint, write, body


def _forms() -> Iterator[tuple[Write, str, str]]:
    """Yield every form with every secret in each of its fields."""
    for write in FORMS:
        for field in (*write.send, *OPTIONAL.get(write.path.rpartition("/")[2], ())):
            if write.path not in OF_ONESELF and (write.path, field) != WHERE_ONE_IS:
                yield from ((write, field, secret) for secret in SENT)


def _arguments() -> Iterator[tuple[str, Any]]:
    """Yield every tool with every secret in each of its arguments."""
    for name, tool in TOOLS.items():
        for path, shape in fields_of(tool.arguments):
            for secret in SENT:
                example = GOOD[name]
                yield name, planted(example=example, path=path, shape=shape, secret=secret)


def _called(acme: World, endpoint: Endpoint, write: Write, body: Any) -> str | None:
    """Send a call; return what is wrong about the answer."""
    path = write.path.format(**acme.names)
    said = _wrong(acme.apis["writer"].call(endpoint.method, path, body, If_Match="*"))
    return said and f"{endpoint.name} {body}: {said}"


def _posted(acme: World, write: Write, field: str, secret: str) -> str | None:
    given = {name: str(value).format(**acme.names) for name, value in write.send.items()}
    browser = acme.browsers.get(write.by) or Client(raise_request_exception=False)
    said = _wrong(browser.post(write.path.format(**acme.names), {**given, field: secret}))
    return said and f"{write.path} {field}: {said}"


def _wrong(answer: Any) -> str | None:
    if answer.status_code >= 500:
        return "broke"
    text = answer.getvalue().decode() + str(dict(answer.headers))
    return f"{answer.status_code} repeats it: {text[:300]}" if held_in(text) else None


def _is_logged(caplog: pytest.LogCaptureFixture) -> bool:
    """Say whether a line as it is written holds what was sent."""
    formatter = LineFormatter()
    return any(held_in(formatter.format(record)) for record in caplog.records)
