"""Traces by OpenTelemetry, an extra, where OTEL_EXPORTER_OTLP_ENDPOINT says where to.

The standard instrumentation makes spans of requests, statements and tasks, and knows nothing of
what may be said: a statement, an address or the text of an error may hold what somebody wrote. So
what leaves is only what `ALLOWED` names, and spans are named by routes and verbs of SQL. All other
OTEL_ variables (headers, sampling, resource) are read by the library.
"""

# ruff: noqa: PLC0415 - the libraries are an extra, and are loaded only where traces are on

import os
import re
from collections.abc import Sequence
from typing import Any, Final

from config.env import WrongEnvironment
from config.telemetry import route_template

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
ALLOWED: Final = frozenset({
    "cairn.job", "celery.action", "celery.state", "celery.task_name", "db.name", "db.namespace",
    "db.operation.name", "db.system", "db.system.name", "error.type", "http.method",
    "http.request.method", "http.response.status_code", "http.route", "http.scheme",
    "http.status_code", "messaging.destination", "messaging.destination.name", "url.scheme",
})  # fmt: skip
ROUTE: Final = "http.route"
NAME: Final = re.compile(r"[\w ./-]{1,80}\Z")  # of a span: words, no values


def is_on() -> bool:
    """Say whether the environment wants traces."""
    is_wanted = any(os.environ.get(name) for name in ENDPOINTS)
    return is_wanted and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"


def instrument() -> None:
    """Let requests, statements and tasks make spans. Call before the middleware is loaded.

    Raises WrongEnvironment where traces are wanted and the libraries are not installed.
    """
    if not is_on():
        return
    try:
        from opentelemetry.instrumentation.celery import CeleryInstrumentor
        from opentelemetry.instrumentation.django import DjangoInstrumentor
        from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
    except ModuleNotFoundError as error:
        wanted = "Traces are an extra that is not installed. Run: make traces; or unset OTEL_…"
        raise WrongEnvironment(wanted) from error

    for kind in (DjangoInstrumentor, PsycopgInstrumentor, CeleryInstrumentor):
        if not kind().is_instrumented_by_opentelemetry:
            kind().instrument()


def start_export(*, service: str) -> None:
    """Send the spans of this process from now on; call after a fork, for it starts a thread."""
    if not is_on():
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class Exporter(OTLPSpanExporter):
        """Sends spans without contents."""

        def export(self, spans: Sequence[Any]) -> Any:
            """Send what may be said of each span."""
            return super().export([without_contents(span) for span in spans])

    name = os.environ.get("OTEL_SERVICE_NAME") or service
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(Exporter()))
    trace.set_tracer_provider(provider)


def stop_export() -> None:
    """Send the spans that are left, and no more; takes as long as who takes them."""
    if not is_on():
        return
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.shutdown()


def without_contents(span: Any) -> Any:
    """Return a span with nothing in it that anybody wrote."""
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import Status

    attributes = {name: value for name, value in span.attributes.items() if name in ALLOWED}
    if route := attributes.get(ROUTE):
        attributes[ROUTE] = route_template(str(route))
    return ReadableSpan(
        name=_name(span, attributes),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=[Event(one.name, timestamp=one.timestamp) for one in span.events],
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
    )


def _name(span: Any, attributes: dict[str, Any]) -> str:
    if ROUTE in attributes:
        method = attributes.get("http.request.method") or attributes.get("http.method")
        return f"{method} {attributes[ROUTE]}"
    return span.name if NAME.match(span.name) else "unnamed"
