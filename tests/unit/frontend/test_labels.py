"""Every stored value that pages show has a name."""

from accounts.caller import Role, TokenScope
from accounts.jobs import NAMES, STATES
from config.celery import BEAT
from frontend import labels
from frontend.presenters import project_settings
from frontend.templatetags.cairn import link_name
from memory.intake.queries import OUTCOMES
from memory.review.actions.corrections import KINDS
from memory.review.queries.overview import health
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
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
    assert set(labels.TYPES) == set(MemoryType)
    assert set(labels.SCOPES) == set(Scope)
    assert set(labels.SOURCES) == set(Source)
    assert set(labels.INTERFACES) >= set(SourceInterface)
    assert set(labels.VERIFICATIONS) == set(Verification)
    assert set(labels.STATUSES) == set(Status)
    assert set(labels.LINKS) == set(LinkKind)
    assert set(labels.ROLES) == set(Role)
    assert set(labels.TOKEN_SCOPES) == set(TokenScope)
    assert set(labels.CORRECTIONS) == set(KINDS)
    assert set(labels.JOBS) == set(NAMES)
    assert set(labels.JOB_STATES) == set(STATES)
    assert set(labels.SCHEDULED) == set(BEAT)
    assert set(labels.ROLLBACK_FATES) == set(RollbackFate)
    assert set(labels.ROLLBACK_WHYS) == set(LeftReason)
    assert {outcome for outcome, *_words in project_settings.OUTCOMES} == set(OUTCOMES)


def test_every_part_of_the_health_score_has_a_name() -> None:
    scored = health(memories=1, verified=1, stale=0, awaiting_review=0, corrected=0)

    assert scored is not None
    assert {part.name for part in scored.parts} <= set(labels.HEALTH_PARTS)


def test_unknown_value_is_shown_as_it_is() -> None:
    assert labels.name_of(labels.TYPES, "brand_new") == "brand new"
    assert labels.type_color(type="brand_new") == "neutral"
    assert link_name("brand_new", outgoing=True) == "brand new"
