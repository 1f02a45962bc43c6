"""Logs that can be searched and never hold content: one line a record, with who and where.

`CAIRN_LOG_FORMAT` chooses between lines for people and JSON for programs; as JSON each request is
logged as well. Of an error its kind and place are written and not its text, which may quote what
somebody sent; of a request its route and not its path, which may be a link that signs in.
"""

import json
import logging
import re
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from accounts import tenancy
from memory.secrets import findings, scanner

# The id of the request being answered: in its answer, and in every line logged for it.
#
# `config.rest.requests` sets it when a request arrives. It stands here because logs are set up
# before anything of the web can be imported.

_current: ContextVar[str] = ContextVar("cairn_request_id", default="")
REQUESTS: Final = logging.getLogger("cairn.requests")
FIELDS: Final = ("method", "route", "status", "ms")  # of a request that was answered
NOWHERE: Final = "unmatched"  # the route of an address that there is not


def current() -> str:
    """Return the id of the request being answered, empty outside of one."""
    return _current.get()


def begin(request_id: str) -> None:
    """Answer a request with this id from now on."""
    _current.set(request_id)
    tenancy.forget_last()


def log_request(*, route: str, method: str, status: int, seconds: float) -> None:
    """Log a request that was answered; only the format for programs shows it."""
    if REQUESTS.isEnabledFor(logging.INFO):
        fields = dict(zip(FIELDS, (method, route, status, round(seconds * 1_000, 1)), strict=True))
        REQUESTS.info("answered", extra=fields)


@lru_cache(maxsize=1_024)
def route_template(route: str) -> str:
    """Return a route of Django's as people write it: `/o/{org}/memories/{memory_id}`."""
    named = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)|<(?:\w+:)?(\w+)>", r"{\1\2}", route)
    return "/" + re.sub(r"[\^$\\]|/\?(?=\$|$)", "", named).lstrip("/")


class LineFormatter(logging.Formatter):
    """Time, level, logger, organization, request and message on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; where an error came from follows on lines of its own."""
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        try:
            organization = tenancy.current().slug
        except tenancy.NoTenant:
            organization = ""
        known = " ".join(part for part in (organization, current()) if part)
        where = f" [{known}]" if known else ""
        message = message_of(record).replace("\n", " ⏎ ")
        line = f"{moment} {record.levelname:<7} {record.name}{where}: {message}"
        if record.exc_info and record.exc_info[1]:
            line = f"{line}\n{trace(record.exc_info[1])}"
        return masked(line)


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for programs; `organization` is its id."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        tenant, is_request = tenancy.last_entered(), record.name == REQUESTS.name
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.msg if is_request else masked(message_of(record)),
            "request_id": current() or None,
            "organization": None if tenant is None else str(tenant.organization_id),
            **{name: getattr(record, name, None) for name in FIELDS if is_request},
        }
        if record.exc_info and record.exc_info[1]:
            fields["error"] = masked(trace(record.exc_info[1]))
        return json.dumps({name: value for name, value in fields.items() if value is not None})


def message_of(record: logging.LogRecord) -> str:
    """Return the message, with the route in the place of a path that Django put into it."""
    message = record.getMessage()
    path = getattr(getattr(record, "request", None), "path", "")
    if not path:
        return message
    match = getattr(record.request, "resolver_match", None)  # type: ignore[attr-defined]
    route = route_template(match.route) if match else NOWHERE
    escaped = path.encode("unicode_escape").decode("ascii")  # as Django writes it
    written = "|".join(re.escape(one) for one in (escaped, path))
    return re.sub(written, lambda _: route, message)


def trace(error: BaseException) -> str:
    """Return the kinds of an error and of what it came from, with the lines of code of each."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        hidden = None if following.__suppress_context__ else following.__context__
        following = following.__cause__ or hidden
    return "\n".join(
        f"{''.join(traceback.format_tb(one.__traceback__))}{type(one).__module__}."
        f"{type(one).__qualname__}"
        for one in reversed(chain)
    )


def masked(text: str) -> str:
    """Return a text in which what looks like a secret is replaced by its kind."""
    found = scanner.find_without_loading(text=text)  # loading the catalog is logged itself
    return findings.redact(text=text, findings=found)
