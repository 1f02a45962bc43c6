"""Logs that can be searched and never hold content: one line a record, with who and where."""

import logging
from contextvars import ContextVar
from datetime import UTC, datetime

from accounts import tenancy
from memory.secrets import findings, scanner

# The id of the request being answered: in its answer, and in every line logged for it.
#
# `config.rest.requests` sets it when a request arrives. It stands here because logs are set up
# before anything of the web can be imported.

_current: ContextVar[str] = ContextVar("cairn_request_id", default="")


def current() -> str:
    """Return the id of the request being answered, empty outside of one."""
    return _current.get()


def begin(request_id: str) -> None:
    """Answer a request with this id from now on."""
    _current.set(request_id)


class LineFormatter(logging.Formatter):
    """Time, level, logger, organization, request and message on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an exception follows on lines of its own."""
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        message = record.getMessage().replace("\n", " ⏎ ")
        try:
            organization = tenancy.current().slug
        except tenancy.NoTenant:
            organization = ""
        known = " ".join(part for part in (organization, current()) if part)
        where = f" [{known}]" if known else ""
        line = f"{moment} {record.levelname:<7} {record.name}{where}: {message}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        found = scanner.find_without_loading(text=line)  # loading the catalog is logged itself
        return findings.redact(text=line, findings=found)
