"""From what a caller sends to what can be stored: checked, scanned, classified, placed.

Everything here happens before a memory exists, and a candidate that is refused leaves nothing
behind; `of_row` makes a candidate of a memory that is said again.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.caller import Caller, Role, is_person
from accounts.errors import Forbidden, InvalidInput, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.customization import queries as custom_types
from memory.entities import accurate, names
from memory.errors import GovernanceDenied
from memory.intake import classify, echoes_and_alarms, integrate, validation
from memory.records import formulas
from memory.records.models import Memory
from memory.secrets import findings, scanner
from memory.taxonomy import (
    DEFAULT_CONFIDENCE,
    Governance,
    MemoryType,
    Scope,
    Source,
    Verification,
    source_row,
    type_row,
)
from memory.text import text as texts
from teams import errors as team_errors
from teams import queries as places
from teams.models import Project, Team, TeamMember

MAY_WRITE_FOR_ALL: Final = frozenset({Role.OWNER, Role.ADMIN, Role.STEWARD})
ALONE: Final = integrate.Neighborhood()
USUAL: Final = integrate.Thresholds()
SHARED_FIELDS: Final = (  # of a memory and its candidate
    "content", "source", "type", "external_id", "scope", "attributes", "pinned",
)  # fmt: skip
TAKEN_OVER: Final = (  # what a row is given of its candidate as it is
    "content", "external_id", "reach", "phase", "methodology", "pinned", "event_at", "session_id",
    "needs_review", "source", "source_uri", "source_hash", "source_line", "commit_sha",
    "taint_reason", "thread", "session", "position",
    "work_unit", "confidence_floor",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCandidate:
    """A candidate that has been checked and classified; not yet compared with the store."""

    new: validation.NewMemory
    classification: classify.Classification
    content_hash: str
    findings: tuple[findings.Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a memory will stand: its project, scope and the audience that may see it."""

    project: Project | None
    scope: Scope
    audience: UUID
    team_id: UUID | None

    @property
    def project_id(self) -> UUID | None:
        """The id of its project, if it has one."""
        return None if self.project is None else self.project.id


def check_candidate(
    *, caller: Caller, new: validation.NewMemory, is_proposed: bool = False
) -> CheckedCandidate:
    """Check, scan and classify a candidate; only a custom type is read from the store.

    `is_proposed`: it waits for a person whatever its layer. Raises InvalidInput naming each wrong
    field, and GovernanceDenied for what an agent would place in layer 1 by itself.
    """
    new = _of_custom_type(caller, new)
    validation.check_fields(new=new)
    seen = classify.classify(
        content=new.content,
        type=MemoryType(new.type) if new.type else None,
        tags=new.tags,
        files=new.related_files,
        modules=new.related_modules,
        pinned=new.pinned,
        document=new.source_uri if new.source == Source.IMPORT.value else "",
    )
    is_of_layer_1 = seen.governance is Governance.CONSTITUTIONAL and not is_proposed
    if is_of_layer_1 and not may_write_for_all(caller=caller):
        raise GovernanceDenied(
            detail="Only a steward, in person, places a memory in the constitutional layer.",
            hint="Leave out the type or tag identity or chain_of_command, or ask a steward.",
        )
    return CheckedCandidate(
        new=new,
        classification=replace(
            seen,
            files=validation.fitting(name="related_files", found=seen.files),
            modules=validation.fitting(name="related_modules", found=seen.modules),
        ),
        content_hash=texts.content_hash(content=new.content),
        findings=scanner.find_secrets(text=new.content),
    )


def of_row(*, row: Memory, **changes: Any) -> validation.NewMemory:
    """Return the candidate that would say what a memory says, but for some changes."""
    given: dict[str, Any] = {name: getattr(row, name) for name in SHARED_FIELDS} | {
        name: tuple(getattr(row, name)) for name in validation.LISTS
    }
    given["project"] = None if row.project_id is None else str(row.project_id)
    return validation.NewMemory(**{**given, **changes})


def gate(
    *,
    checked: CheckedCandidate,
    neighborhood: integrate.Neighborhood = ALONE,
    thresholds: integrate.Thresholds = USUAL,
) -> integrate.GateResult:
    """Send a checked candidate through the gates, where nothing else is said without neighbors."""
    return integrate.run_gates(
        content=checked.new.content,
        type=checked.classification.type,
        secrets=checked.findings,
        neighborhood=neighborhood,
        thresholds=thresholds,
    )


def find_placement(*, caller: Caller, new: validation.NewMemory) -> Placement:
    """Find where a memory goes. In a unit. Raises NotFound, InvalidInput, NotBoundToProject."""
    project = places.find_project(caller=caller, ref=new.project) if new.project else None
    if project is None and caller.bound_projects is not None:
        raise team_errors.NotBoundToProject(
            detail="This token is bound to projects; it stores nothing outside of them.",
            hint="Name one of its projects in “project”.",
        )
    usual = Scope.PERSONAL if caller.user_id is not None else Scope.ORGANIZATION
    scope = Scope(new.scope or (usual if project is None else Scope.PROJECT))
    _check_scope(new, scope, project)
    team_id = _find_team(caller, new.team or "") if scope is Scope.TEAM else None
    audience = team_id or _find_audience(caller, scope, project)
    return Placement(project=project, scope=scope, audience=audience, team_id=team_id)


def _check_scope(new: validation.NewMemory, scope: Scope, project: Project | None) -> None:
    """Return where team, project and scope go together. Raises InvalidInput."""
    if new.team and scope is not Scope.TEAM:
        detail = "A team is named with the scope team alone."
        raise wrong_field(pointer="/team", detail=detail, code="scope")
    if (
        project is not None
        and not project.open_to_all
        and scope not in {Scope.PROJECT, Scope.PERSONAL}
    ):  # nobody outside of a closed project may see its name on a memory
        raise wrong_field(
            pointer="/scope",
            detail="A memory of a closed project is for its members, or personal.",
            hint="Leave the project out to share it more widely.",
            code="scope",
        )


def _find_team(caller: Caller, ref: str) -> UUID:
    """Return the team of the caller that is named. Raises InvalidInput."""
    by_id = as_uuid(text=ref)
    wanted = {"slug": ref} if by_id is None else {"id": by_id}
    mine = TeamMember.objects.filter(user_id=caller.user_id or UUID(int=0)).values("team_id")
    team = Team.objects.filter(id__in=mine, **wanted).first()
    if team is None:
        detail = "Name a team you belong to in “team”."
        raise wrong_field(pointer="/team", detail=detail, code="team")
    return team.id


def find_placement_if_any(*, caller: Caller, new: validation.NewMemory) -> Placement | None:
    """Find where a memory would go, None where there is no such place for it. In a unit."""
    try:
        return find_placement(caller=caller, new=new)
    except (InvalidInput, Forbidden, NotFound, ValueError):
        return None


def _of_custom_type(caller: Caller, new: validation.NewMemory) -> validation.NewMemory:
    """Return a candidate under one of our types, marked where it named one that is none.

    It is then of the methodology that adds the type, unless it names another. Raises InvalidInput
    for a type that nobody knows.
    """
    if not new.type or not custom_type_rules.is_own(name=new.type):
        return replace(new, tags=custom_type_rules.marked(tags=new.tags, name=new.own_type))
    found = custom_types.find_custom_type(caller=caller, name=new.type, pointer="/type")
    return replace(
        new,
        type=found.type.base.value,
        own_type=found.type.name,
        tags=custom_type_rules.marked(tags=new.tags, name=found.type.name),
        methodology=new.methodology or found.methodology,
    )


def _find_audience(caller: Caller, scope: Scope, project: Project | None) -> UUID:
    if scope is Scope.PROJECT and project is not None:
        return project.id
    if scope is Scope.PERSONAL and caller.user_id is not None:
        return caller.user_id
    if scope is Scope.ORGANIZATION and may_write_for_all(caller=caller):
        return caller.organization_id
    reasons = {
        Scope.PROJECT: message("A memory of a project needs the project; name it in “project”."),
        Scope.PERSONAL: message("This credential belongs to no person; use the scope project."),
        Scope.ORGANIZATION: message(
            "Only a steward, in the dashboard, writes for the whole organization."
        ),
    }
    raise wrong_field(pointer="/scope", detail=reasons[scope], code="scope")


def may_write_for_all(*, caller: Caller) -> bool:
    """Say whether the caller may set what holds for everyone: a steward in person."""
    return is_person(caller=caller) and caller.role in MAY_WRITE_FOR_ALL


def new_row(
    *,
    caller: Caller,
    checked: CheckedCandidate,
    placement: Placement,
    surprise: float,
    now: datetime,
) -> Memory:
    """Compose the row of an accepted candidate; it is not saved."""
    new, seen = checked.new, checked.classification
    confidence = DEFAULT_CONFIDENCE if new.confidence is None else new.confidence
    value = formulas.importance_at_intake(surprise=surprise, confidence=confidence)
    source = source_row(source=Source(new.source))
    row = Memory(
        project=placement.project,
        type=seen.type.value,
        citation=seen.citation,
        content_hash=checked.content_hash,
        tags=list(dict.fromkeys(new.tags)),
        related_files=list(seen.files),
        related_modules=list(seen.modules),
        structure=seen.structure.value,
        attributes=dict(new.attributes),
        scope=placement.scope.value,
        audience=placement.audience,
        team_id=placement.team_id,
        confidence=confidence,
        authority=source.authority,
        importance=value,
        surprise=surprise,
        tier=formulas.tier(importance=value).value,
        governance=seen.governance,
        decay_half_life_days=type_row(type=seen.type).half_life_days,
        created_at=now,
        updated_at=now,
        stated_at=now,
        valid_from=new.event_at or now,
        provenance_sessions=[] if new.session_id is None else [new.session_id],
        source_interface=caller.source_interface,
        author_user=caller.user_id,
        author_agent=caller.agent,
        **{name: getattr(new, name) for name in TAKEN_OVER},
    )
    if not is_person(caller=caller):  # before anybody else is given it
        alarms = echoes_and_alarms.of_content(content=new.content)
        row.needs_review |= len(alarms) >= echoes_and_alarms.HELD_FROM
        if new.is_evidenced and not alarms:  # no session shows that an order is right
            row.verification = Verification.EVIDENCED.value
    row.names = seen.names
    row.names_version = names.VERSION
    row.enriched_by = accurate.enriched_by(named=row.names)
    return row


def find_exact_duplicate(*, placement: Placement, content_hash: str) -> UUID | None:
    """Return the active memory of the same place with the same normalized content."""
    twins = (
        _active(placement).filter(content_hash=content_hash).exclude(type=MemoryType.EPISODE.value)
    )
    return twins.order_by("id").values_list("id", flat=True).first()


def find_by_external_id(*, placement: Placement, external_id: str) -> Memory | None:
    """Return the active memory of the place that carries this external id."""
    if not external_id:
        return None
    return _active(placement).filter(external_id=external_id).order_by("id").first()


def lock_same(
    *, placement: Placement, hashes: set[str], external_ids: set[str]
) -> tuple[Memory, ...]:
    """Lock the active memories of a place with one of these texts or external ids, by id.

    Episodes may say the same, so they are found by their external ids alone. Each half is asked in
    the words of its unique index; without, Postgres reads the whole project.
    """
    same_text = Q(content_hash__in=hashes) & ~Q(type=MemoryType.EPISODE.value)
    same_id = Q(external_id__in=external_ids) & ~Q(external_id="")
    rows = _active(placement).filter(same_text | same_id)
    return tuple(rows.select_for_update().order_by("id"))


def _active(placement: Placement) -> QuerySet[Memory]:
    return Memory.objects.filter(
        audience=placement.audience, project=placement.project, status="active"
    )
