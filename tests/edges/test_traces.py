"""Traces arrive by OTLP, name routes and verbs, and hold nothing that anybody wrote."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final

import pytest
from django.db import connection
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from config import env, tracing

CANARY: Final = "canaryqzx"


@dataclass(slots=True)
class Receiver:
    """A collector of traces: what it was sent, as bytes, and its address."""

    address: str = ""
    bodies: list[bytes] = field(default_factory=list)

    def spans(self) -> list[Any]:
        """Return the spans that came in."""
        read = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in read
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A collector on loopback."""
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.django_db
def test_spans_arrive_by_route_verb_and_task_without_contents(receiver: Receiver) -> None:
    database = os.environ["DATABASE_URL"].rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.traced_program", CANARY],
        cwd=env.ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.check",
            "DATABASE_URL": f"{database}/{connection.settings_dict['NAME']}",
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.address,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    spans = receiver.spans()
    names = {span.name for span in spans}
    attributes = {one.key for span in spans for one in span.attributes}
    page = next(span for span in spans if span.name == "GET /invite/{secret}")
    statements = [span for span in spans if span.name == "SELECT"]
    assert {"GET /api/v1/memories", "GET", "run/cairn.wake", "SELECT"} <= names
    assert page.span_id in {span.parent_span_id for span in statements}
    assert {"http.route", "db.system"} <= attributes <= tracing.ALLOWED
    assert not any(CANARY.encode() in body for body in receiver.bodies)


def test_without_an_endpoint_nothing_is_instrumented() -> None:
    program = (
        "import sys, django\ndjango.setup()\nfrom config import tracing\n"
        "tracing.start_export(service='x')\n"
        "sys.exit('opentelemetry.instrumentation.django' in sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if "OTEL_" not in name}

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=env.ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "config.settings.check"},
        check=False,
    )

    assert done.returncode == 0


def test_traces_that_are_wanted_and_not_installed_stop_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setitem(sys.modules, "opentelemetry.instrumentation.celery", None)

    with pytest.raises(env.WrongEnvironment, match="make traces"):
        tracing.instrument()
