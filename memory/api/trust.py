"""Trust over REST: where the caller stands in a project, and setting it."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from accounts.api.endpoints import Call, get, put
from accounts.api.schemas import Body, OneOf, Result
from memory.sessions.actions import trust
from memory.sessions.actions.trust import TrustView
from teams.trust import TrustLevel, level_row

NAMES: Final = tuple(level.name.lower() for level in TrustLevel)
LevelName = Annotated[str, BeforeValidator(lambda level: level.name.lower())]


class NewTrust(Body):
    """A level to set."""

    level: Annotated[str, OneOf(NAMES)] = Field(
        description="A level that you reached, or below it; autonomous is for owners.",
        examples=["cautious"],
    )


class TrustEvidence(Result):
    """What the level rests on."""

    sessions: int
    total: int
    shown: int
    confirmed: int
    corrected: int


class NextTrust(Result):
    """What the next level takes."""

    level: LevelName
    sessions_to_go: int
    confirmations_to_go: int
    corrected_share: float | None
    is_earned: bool


class Trust(Result):
    """Where you stand."""

    level: LevelName
    reached: LevelName
    is_chosen: bool
    since: datetime | None
    injects_from_confidence: float
    asking: str
    evidence: TrustEvidence
    next: NextTrust | None
    open_to: tuple[LevelName, ...]
    wrong_in_a_session: int
    of_a_person: bool


@get("projects/{ref}/trust", tag="projects", answer=Trust)
def get_trust(call: Call) -> dict[str, Any]:
    """Say how far you trust what is remembered.

    Your own level in a project, what it does, and what the next one takes; nobody else is told it.
    A token has its person's; one without a person is cautious.
    """
    return _show_trust(trust.get_trust(caller=call.caller, ref=call.ref))


@put("projects/{ref}/trust", tag="projects", answer=Trust, idempotent=True)
def set_trust(call: Call, body: NewTrust) -> dict[str, Any]:
    """Set how far you trust what is remembered.

    Any level that you reached, or below; then it stays there. At the level you reached it rises
    again by itself. A token lowers its person's level and never raises it.
    """
    level = TrustLevel[body.level.upper()]
    return _show_trust(trust.set_trust(caller=call.caller, ref=call.ref, level=level, now=call.now))


def _show_trust(view: TrustView) -> dict[str, Any]:
    row = level_row(level=view.level)
    return {
        "level": view.level,
        "reached": view.standing.reached,
        "is_chosen": view.standing.is_chosen,
        "since": view.standing.since,
        "injects_from_confidence": row.injects_from_confidence,
        "asking": row.asking,
        "evidence": view.evidence,
        "next": view.following,
        "open_to": view.open_to,
        "wrong_in_a_session": view.wrong,
        "of_a_person": view.is_a_persons,
    }
