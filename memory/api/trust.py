"""Trust over REST: where the caller stands in a project, and setting it."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import MOMENT, NUMBER, TEXT, TRUTH, WHOLE, maybe, record
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.sessions.actions.trust import set_trust
from memory.sessions.queries import trust_evidence
from memory.sessions.queries.trust_evidence import TrustView
from teams.trust import NextLevel, TrustLevel, level_row

NAMES: Final = tuple(level.name.lower() for level in TrustLevel)
LEVEL: Final = Record(
    name="NewTrust",
    fields=(
        Field(
            name="level",
            shape=Text(largest=10, choices=NAMES),
            says="A level that you reached, or below it; autonomous is for owners.",
            required=True,
        ),
    ),
)
_TRUST: Final[Mapping[str, Any]] = {
    "level": "cautious",
    "reached": "cautious",
    "is_chosen": False,
    "since": None,
    "injects_from_confidence": 0.8,
    "asking": "each",
    "evidence": {"sessions": 1, "total": 1, "shown": 4, "confirmed": 1, "corrected": 0},
    "next": {
        "level": "standard",
        "sessions_to_go": 2,
        "confirmations_to_go": 1,
        "corrected_share": 0.0,
        "is_earned": False,
    },
    "open_to": ["cautious"],
    "wrong_in_a_session": 0,
    "of_a_person": True,
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Trust": record(
        level=TEXT,
        reached=TEXT,
        is_chosen=TRUTH,
        since=maybe(MOMENT),
        injects_from_confidence=NUMBER,
        asking=TEXT,
        evidence=record(sessions=WHOLE, total=WHOLE, shown=WHOLE, confirmed=WHOLE, corrected=WHOLE),
        next=maybe(
            record(
                level=TEXT,
                sessions_to_go=WHOLE,
                confirmations_to_go=WHOLE,
                corrected_share=maybe(NUMBER),
                is_earned=TRUTH,
            )
        ),
        open_to=list_of(TEXT),
        wrong_in_a_session=WHOLE,
        of_a_person=TRUTH,
    )
}


def look(ask: Ask) -> Answer:
    """Return where the caller stands."""
    return Answer(body=_shown(trust_evidence.get_trust(caller=ask.caller, ref=ask.path["ref"])))


def change(ask: Ask) -> Answer:
    """Set the caller's own level."""
    level = TrustLevel[ask.body["level"].upper()]
    done = set_trust(caller=ask.caller, ref=ask.path["ref"], level=level, now=ask.now)
    return Answer(body=_shown(done))


def _shown(view: TrustView) -> dict[str, Any]:
    row = level_row(level=view.level)
    found = view.evidence
    return {
        "level": _name(view.level),
        "reached": _name(view.standing.reached),
        "is_chosen": view.standing.is_chosen,
        "since": view.standing.since,
        "injects_from_confidence": row.injects_from_confidence,
        "asking": row.asking.value,
        "evidence": {
            "sessions": found.sessions,
            "total": found.total,
            "shown": found.shown,
            "confirmed": found.confirmed,
            "corrected": found.corrected,
        },
        "next": _next(view.following),
        "open_to": [_name(one) for one in view.open_to],
        "wrong_in_a_session": view.wrong,
        "of_a_person": view.is_a_persons,
    }


def _next(following: NextLevel | None) -> dict[str, Any] | None:
    if following is None:
        return None
    return {
        "level": _name(following.level),
        "sessions_to_go": following.sessions_to_go,
        "confirmations_to_go": following.confirmations_to_go,
        "corrected_share": following.corrected_share,
        "is_earned": following.is_earned,
    }


def _name(level: TrustLevel) -> str:
    return level.name.lower()


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/trust",
        name="get_trust",
        tag="projects",
        summary="Say how far you trust what is remembered",
        says=(
            "Your own level in a project, what it does, and what the next one takes; nobody else "
            "is told it. A token has its person's; one without a person is cautious."
        ),
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="Where you stand.", schema="Trust", example=_TRUST),),
    ),
    Endpoint(
        method="PUT",
        path="projects/{ref}/trust",
        name="set_trust",
        tag="projects",
        summary="Set how far you trust what is remembered",
        says=(
            "Any level that you reached, or below; then it stays there. At the level you reached "
            "it rises again by itself. A token lowers its person's level and never raises it."
        ),
        scope=TokenScope.WRITE,
        run=change,
        body=LEVEL,
        example={"level": "cautious"},
        idempotent=True,
        replies=(Reply(status=200, says="Where you stand now.", schema="Trust", example=_TRUST),),
    ),
)
