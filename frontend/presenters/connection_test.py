"""What is said of a connection that was tried: how it stands, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy as _

from accounts.queries.credentials import TokenView
from frontend.labels.memory_labels import Name
from memory.injection.actions.connection_test import ConnectionOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer: how it is colored, what it says, what to do."""

    tone: str
    says: Name
    hint: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A token that was tried, and what is said of it."""

    token: TokenView
    said: Said


ANSWERS: Final[Mapping[ConnectionOutcome, Said]] = {
    ConnectionOutcome.WORKS: Said(
        tone="good",
        says=_("It works: what this token tells is kept, and what helps is given back."),
        hint=_("Still silent? Look at the address and the token that the agent was set up with."),
    ),
    ConnectionOutcome.REVOKED: Said(
        tone="bad",
        says=_("Refused: this token was revoked."),
        hint=_("Make a new one on this page, and set the agent up with it."),
    ),
    ConnectionOutcome.EXPIRED: Said(
        tone="bad",
        says=_("Refused: this token has expired."),
        hint=_("Make a new one on this page, and set the agent up with it."),
    ),
    ConnectionOutcome.ELSEWHERE: Said(
        tone="bad",
        says=_("Refused: this token does not reach this project."),
        hint=_("Make a token here, or one that reaches every project of yours."),
    ),
    ConnectionOutcome.READ_ONLY: Said(
        tone="warn",
        says=_("Refused: this token may read, and hooks also write."),
        hint=_("It searches and reads all the same; hooks need a token that writes."),
    ),
    ConnectionOutcome.PAUSED: Said(
        tone="warn",
        says=_("Paused: what it tells is kept, and agents of this project are given nothing."),
        hint=_("Whoever manages the project resumes it on this page."),
    ),
    ConnectionOutcome.TOKEN_PAUSED: Said(
        tone="warn",
        says=_("Paused: what it tells is kept, and this agent is given nothing here."),
        hint=_("Resume it beside its name."),
    ),
    ConnectionOutcome.OFF: Said(
        tone="warn",
        says=_("Switched off: what it tells is kept, and no hook of this project gives anything."),
        hint=_("The settings of the project say which hooks are on."),
    ),
}
