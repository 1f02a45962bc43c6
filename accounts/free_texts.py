"""Free texts outside of memories: names, descriptions, keys of calls. None may hold a secret.

What a secret looks like is for `memory` to say, and accounts stands below it; so the judge comes in
through a door, as the writer of the audit log does (`accounts.audit`), and memory opens it when it
is loaded.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from accounts.errors import FieldError, InvalidInput

HINT: Final = "Say where the secret is kept instead of what it is, and send it again."


class Judge(Protocol):
    """Who knows secrets."""

    def fault_of(self, *, text: str) -> str:
        """Return a sentence that names kind and place of what a text holds; empty for nothing."""

    def without_secrets(self, *, text: str) -> str:
        """Return a text with each secret replaced by its kind in brackets."""


_judges: list[Judge] = []


def open_door(*, judge: Judge) -> None:
    """Let texts be judged by this one from now on."""
    _judges[:] = [judge]


def check(*, texts: Mapping[str, str]) -> None:
    """Check the texts of fields, by their JSON pointers. Raises InvalidInput naming each field."""
    (judge,) = _judges
    faults = {pointer: judge.fault_of(text=text) for pointer, text in texts.items()}
    errors = tuple(
        FieldError(pointer=pointer, detail=fault, code="secret")
        for pointer, fault in faults.items()
        if fault
    )
    if errors:
        raise InvalidInput(detail=errors[0].detail, hint=HINT, errors=errors)


def masked(*, text: str) -> str:
    """Return a text as it may be repeated: in a refusal, a log, beside an act."""
    (judge,) = _judges
    return judge.without_secrets(text=text)
