"""The id of the request being answered: in its answer, and in every line logged for it.

`config.rest.requests` sets it when a request arrives; `config.telemetry` writes it. It stands apart
from both because logs are set up before anything of the web can be imported.
"""

from contextvars import ContextVar

_current: ContextVar[str] = ContextVar("cairn_request_id", default="")


def current() -> str:
    """Return the id of the request being answered, empty outside of one."""
    return _current.get()


def begin(request_id: str) -> None:
    """Answer a request with this id from now on."""
    _current.set(request_id)
