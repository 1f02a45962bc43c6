"""From what a caller sends to what can be stored: checked, scanned, classified, placed.

Everything here happens before a memory exists. A draft that is refused leaves nothing behind.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from accounts.caller import Caller, Role, is_person
from accounts.errors import Forbidden, InvalidInput, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.messages import message
from memory.customization.actions import custom_types
from memory.errors import GovernanceDenied
from memory.intake import classify
from memory.intake.classify import Classification, TypeBasis
from memory.records.actions.validation import NewMemory, check_fields, fitting
from memory.secrets import scanner
from memory.secrets.findings import Finding
from memory.taxonomy import Governance, MemoryType, Scope
from memory.text import text as texts
from teams import queries as places
from teams.errors import NotBoundToProject
from teams.models import Project, Team, TeamMember

__all__ = ["Draft", "NewMemory", "Place", "draft", "may_found", "place", "place_if_any"]

MAY_WRITE_FOR_ALL = frozenset({Role.OWNER, Role.ADMIN, Role.STEWARD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A candidate that has been checked and classified; not yet compared with the store."""

    new: NewMemory
    classification: Classification
    content_hash: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a memory will stand: its project, scope and the audience that may see it."""

    project: Project | None
    scope: Scope
    audience: UUID
    team_id: UUID | None


def draft(*, caller: Caller, new: NewMemory) -> Draft:
    """Check, scan and classify a candidate, without the store but for a type that is none of ours.

    Raises InvalidInput naming each wrong field, GovernanceDenied for layer 1 from an agent.
    """
    new = custom_types.of_new(caller=caller, new=new)
    check_fields(new=new)
    classification = _classified(caller, new)
    _check_governance(caller, classification)
    return Draft(
        new=new,
        classification=classification,
        content_hash=texts.content_hash(content=new.content),
        findings=scanner.find_secrets(text=new.content),
    )


def place(*, caller: Caller, new: NewMemory) -> Place:
    """Find where a memory goes. In a unit. Raises NotFound, InvalidInput, NotBoundToProject."""
    project = places.find_project(caller=caller, ref=new.project) if new.project else None
    if project is None and caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects; it stores nothing outside of them.",
            hint="Name one of its projects in “project”.",
        )
    scope = Scope(new.scope) if new.scope else _usual_scope(caller, project)
    _check_fits(new, scope, project)
    if scope is Scope.TEAM:
        team = _team(caller, new.team)
        return Place(project=project, scope=scope, audience=team.id, team_id=team.id)
    audience = _audience(caller, scope, project)
    return Place(project=project, scope=scope, audience=audience, team_id=None)


def place_if_any(*, caller: Caller, new: NewMemory) -> Place | None:
    """Find where a memory would go, None where there is no such place for it. In a unit."""
    try:
        return place(caller=caller, new=new)
    except (InvalidInput, Forbidden, NotFound, ValueError):
        return None


def _classified(caller: Caller, new: NewMemory) -> Classification:
    seen = _classify(new, MemoryType(new.type) if new.type else None)
    is_guess = seen.type_basis is not TypeBasis.GIVEN
    if is_guess and seen.governance is Governance.CONSTITUTIONAL and not may_found(caller=caller):
        return _classify(new, MemoryType.FACT)
    return seen


def _classify(new: NewMemory, type: MemoryType | None) -> Classification:
    seen = classify.classify(
        content=new.content,
        type=type,
        tags=new.tags,
        files=new.related_files,
        modules=new.related_modules,
        pinned=new.pinned,
    )
    return replace(
        seen,
        files=fitting(name="related_files", found=seen.files),
        modules=fitting(name="related_modules", found=seen.modules),
    )


def _check_fits(new: NewMemory, scope: Scope, project: Project | None) -> None:
    """Check that nobody outside of a closed project would see its name on a memory."""
    if new.team and scope is not Scope.TEAM:
        detail = "A team is named with the scope team alone."
        raise wrong_field(pointer="/team", detail=detail, code="scope")
    if project is None or project.open_to_all or scope in {Scope.PROJECT, Scope.PERSONAL}:
        return
    raise wrong_field(
        pointer="/scope",
        detail="A memory of a closed project is for its members, or personal.",
        hint="Leave the project out to share it more widely.",
        code="scope",
    )


def _usual_scope(caller: Caller, project: Project | None) -> Scope:
    if project is not None:
        return Scope.PROJECT
    return Scope.PERSONAL if caller.user_id is not None else Scope.ORGANIZATION


def _audience(caller: Caller, scope: Scope, project: Project | None) -> UUID:
    if scope is Scope.PROJECT and project is not None:
        return project.id
    if scope is Scope.PERSONAL and caller.user_id is not None:
        return caller.user_id
    if scope is Scope.ORGANIZATION and may_found(caller=caller):
        return caller.organization_id
    reasons = {
        Scope.PROJECT: message("A memory of a project needs the project; name it in “project”."),
        Scope.PERSONAL: message("This credential belongs to no person; use the scope project."),
        Scope.ORGANIZATION: message(
            "Only a steward, in the dashboard, writes for the whole organization."
        ),
    }
    raise wrong_field(pointer="/scope", detail=reasons[scope], code="scope")


def _team(caller: Caller, ref: str | None) -> Team:
    mine = TeamMember.objects.filter(user_id=caller.user_id or UUID(int=0)).values("team_id")
    by_id = as_uuid(text=ref or "")
    wanted = {"slug": ref or ""} if by_id is None else {"id": by_id}
    row = Team.objects.filter(id__in=mine, **wanted).first()
    if row is None:
        detail = "Name a team you belong to in “team”."
        raise wrong_field(pointer="/team", detail=detail, code="team")
    return row


def may_found(*, caller: Caller) -> bool:
    """Say whether the caller may set what holds for everyone: a steward in person."""
    return is_person(caller=caller) and caller.role in MAY_WRITE_FOR_ALL


def _check_governance(caller: Caller, classification: Classification) -> None:
    if classification.governance is not Governance.CONSTITUTIONAL or may_found(caller=caller):
        return
    raise GovernanceDenied(
        detail="Only a steward, in person, places a memory in the constitutional layer.",
        hint="Leave out the type or tag identity or chain_of_command, or ask a steward.",
    )
