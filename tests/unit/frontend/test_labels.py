"""Every stored value that pages show has a name."""

import re
from pathlib import Path

from accounts.caller import Role, TokenScope
from accounts.jobs import NAMES, STATES
from config.celery import BEAT
from frontend import labels
from frontend.presenters import project_settings
from frontend.templatetags.cairn import link_name
from frontend.views import check
from graph.code.languages import Language
from graph.index.queries import State
from memory.checks.check_findings import FindingReason
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
from teams.queries import GATES, Hook


def test_tables_name_every_value() -> None:
    for table, values in (
        (labels.TYPES, MemoryType), (labels.SCOPES, Scope), (labels.SOURCES, Source),
        (labels.VERIFICATIONS, Verification), (labels.STATUSES, Status), (labels.LINKS, LinkKind),
        (labels.ROLES, Role), (labels.TOKEN_SCOPES, TokenScope), (labels.CORRECTIONS, KINDS),
        (labels.JOBS, NAMES), (labels.JOB_STATES, STATES), (labels.SCHEDULED, BEAT),
        (labels.ROLLBACK_FATES, RollbackFate), (labels.ROLLBACK_WHYS, LeftReason),
        (labels.LANGUAGES, Language), (project_settings.HOOKS, Hook),
        (project_settings.GATE_FIELDS, GATES), (check.REASONS, FindingReason),
    ):  # fmt: skip
        assert set(table) == set(values)
    assert set(labels.INTERFACES) >= set(SourceInterface)
    assert set(labels.INDEX_STATES) >= set(State)
    assert {outcome for outcome, *_words in project_settings.OUTCOMES} == set(OUTCOMES)


def test_every_name_that_pages_ask_for_is_in_a_table() -> None:
    folder = Path(labels.__file__).parent / "templates"
    pages = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.html"))

    assert [name for name in re.findall(r'\|name:"(\w+)"', pages) if name not in vars(labels)] == []


def test_every_part_of_the_health_score_has_a_name() -> None:
    scored = health(memories=1, verified=1, stale=0, awaiting_review=0, corrected=0)

    assert scored is not None
    assert {part.name for part in scored.parts} <= set(labels.HEALTH_PARTS)


def test_unknown_value_is_shown_as_it_is() -> None:
    assert labels.name_of(labels.TYPES, "brand_new") == "brand new"
    assert labels.type_color(type="brand_new") == "neutral"
    assert link_name("brand_new", outgoing=True) == "brand new"
