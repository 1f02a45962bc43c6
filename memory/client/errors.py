"""What can go wrong beside the agent, each with the exit code of the command line.

    ClientError                1   what no other error describes
    ├── Misused                2   a command or a call that makes no sense
    ├── Unreachable            1   no answer came from the server
    ├── Incomplete             5   some of it was done, and some not
    └── Problem            1, 3, 4   the server refused (RFC 9457)

`hint` says what to do, and `command` is the next one to try: the help of the command that ran,
where none is named and it was used wrongly or done in part.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

ERROR: Final = 1
USAGE: Final = 2
CREDENTIAL: Final = 3
NOT_FOUND: Final = 4
PARTIAL: Final = 5
STOPPED: Final = 6  # what was checked is not to be done
STILL_RUNNING: Final = "still_running"  # the code of a problem that ends by itself
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it
_BY_STATUS: Final[Mapping[int, tuple[int, str]]] = {  # exit code, the next command
    401: (CREDENTIAL, "cairn login"),
    403: (CREDENTIAL, "cairn whoami"),
    404: (NOT_FOUND, "cairn status"),
}


class ClientError(Exception):
    """An error with a message, a hint and the next command to try."""

    code = "error"
    exit_code = ERROR
    next_command = "cairn doctor"

    def __init__(self, *, detail: str, hint: str = "", command: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.command = command or self.next_command

    def as_json(self) -> dict[str, Any]:
        """Write the error down for programs."""
        return {
            "error": self.code,
            "detail": self.detail,
            "hint": self.hint,
            "command": self.command,
            "exit_code": self.exit_code,
        }


class Misused(ClientError):
    """What was asked makes no sense."""

    code = "usage"
    exit_code = USAGE
    next_command = ""


class Unreachable(ClientError):
    """The server did not answer, whatever was tried."""

    code = "unreachable"


class Incomplete(ClientError):
    """Some of it was done, and some not."""

    code = "partial"
    exit_code = PARTIAL
    next_command = ""


class Fault(NamedTuple):
    """A field that was refused: a JSON pointer, why, and the stable code of that."""

    pointer: str
    detail: str
    code: str


class Problem(ClientError):
    """The server refused: its status, its stable code, its hint, and the request's id."""

    def __init__(self, *, status: int, document: Mapping[str, Any]) -> None:
        exit_code, command = _BY_STATUS.get(status, (ERROR, "cairn doctor"))
        title = _text(document.get("title")) or f"The server answered {status}"
        super().__init__(
            detail=_text(document.get("detail")) or title,
            hint=_text(document.get("hint")),
            command=command,
        )
        self.exit_code = exit_code
        self.status = status
        self.code = _text(document.get("code")) or "problem"
        self.request_id = _text(document.get("request_id"))
        errors = document.get("errors")
        self.faults = tuple(
            Fault(*(_text(entry.get(name)) for name in Fault._fields))
            for entry in (errors if isinstance(errors, list) else ())
            if isinstance(entry, Mapping)
        )

    def as_json(self) -> dict[str, Any]:
        """Write the refusal down for programs."""
        return {**super().as_json(), "status": self.status, "request_id": self.request_id}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
