"""Every stored value that pages show has a name."""

from accounts.caller import Role, TokenScope
from accounts.job_names import NAMES
from accounts.queries.jobs import STATES
from config.schedule import BEAT
from frontend import words
from memory.records.health import HealthCounts, health
from memory.review.actions.correct import KINDS
from memory.taxonomy import (
    LinkKind,
    MemoryType,
    Scope,
    Source,
    SourceInterface,
    Status,
    Verification,
)


def test_tables_name_every_value() -> None:
    assert set(words.TYPES) == set(MemoryType)
    assert set(words.SCOPES) == set(Scope)
    assert set(words.SOURCES) == set(Source)
    assert set(words.INTERFACES) >= set(SourceInterface)
    assert set(words.VERIFICATIONS) == set(Verification)
    assert set(words.STATUSES) == set(Status)
    assert set(words.LINKS) == set(LinkKind)
    assert set(words.ROLES) == set(Role)
    assert set(words.TOKEN_SCOPES) == set(TokenScope)
    assert set(words.CORRECTIONS) == set(KINDS)
    assert set(words.JOBS) == set(NAMES)
    assert set(words.JOB_STATES) == set(STATES)
    assert set(words.SCHEDULED) == set(BEAT)


def test_every_part_of_the_health_score_has_a_name() -> None:
    scored = health(
        counts=HealthCounts(
            modules=1,
            modules_covered=1,
            memories=1,
            verified=1,
            stale=0,
            awaiting_review=0,
            disputed=0,
            corrected_in_30_days=0,
        )
    )

    assert scored is not None
    assert {part.name for part in scored.parts} <= set(words.HEALTH_PARTS)


def test_unknown_value_is_shown_as_it_is() -> None:
    assert words.name_of(words.TYPES, "brand_new") == "brand new"
    assert words.type_color(type="brand_new") == "neutral"
    assert words.link_name(kind="brand_new", outgoing=True) == "brand new"
