"""From what a caller sends to what can be stored: checked, scanned, classified, placed.

Everything here happens before a memory exists. A draft that is refused leaves nothing behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.caller import Caller, Role
from accounts.errors import FieldError, InvalidInput
from memory.errors import GovernanceDenied
from memory.intake import attributes as payloads
from memory.intake import classify, secrets
from memory.intake import text as texts
from memory.intake.classify import Classification
from memory.intake.secrets import Finding
from memory.taxonomy import Governance, MemoryType, Reach, Scope, Source
from teams import queries as places
from teams.models import Project, Team, TeamMember

MAY_WRITE_FOR_ALL = frozenset({Role.OWNER, Role.ADMIN, Role.STEWARD})
LONGEST_TAG = 64  # characters, spec 10.5
MOST_TAGS = 64  # spec 10.5
MOST_FILES = 64
LONGEST_FILE = 400  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What someone wants to be remembered."""

    content: str
    source: str
    type: str | None = None
    project: str | None = None
    external_id: str = ""
    tags: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()
    related_modules: tuple[str, ...] = ()
    scope: str | None = None
    team: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    pinned: bool = False
    event_at: datetime | None = None
    reach: str = Reach.GLOBAL.value
    phase: str = ""
    methodology: str = ""
    source_uri: str = ""
    source_line: int | None = None
    commit_sha: str = ""


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
    """Check and classify a candidate. Pure.

    Raises InvalidInput naming each wrong field, GovernanceDenied for layer 1 from an agent.
    """
    errors = (*_text_errors(new), *_list_errors(new), *_value_errors(new))
    if errors:
        raise InvalidInput(
            detail=errors[0].detail,
            hint="Correct the named fields and send it again.",
            errors=errors,
        )
    classification = classify.classify(
        content=new.content,
        type=MemoryType(new.type) if new.type else None,
        tags=new.tags,
        files=new.related_files,
        modules=new.related_modules,
        pinned=new.pinned,
    )
    _check_governance(caller, classification)
    return Draft(
        new=new,
        classification=classification,
        content_hash=texts.content_hash(content=new.content),
        findings=_findings(new),
    )


def place(*, caller: Caller, new: NewMemory) -> Place:
    """Find where a memory goes. In a unit. Raises NotFound, InvalidInput."""
    project = places.find_project(caller=caller, ref=new.project) if new.project else None
    scope = Scope(new.scope) if new.scope else _usual_scope(caller, project)
    if scope is Scope.TEAM:
        team = _team(caller, new.team)
        return Place(project=project, scope=scope, audience=team.id, team_id=team.id)
    audience = _audience(caller, scope, project)
    return Place(project=project, scope=scope, audience=audience, team_id=None)


def _usual_scope(caller: Caller, project: Project | None) -> Scope:
    if project is not None:
        return Scope.PROJECT
    return Scope.PERSONAL if caller.user_id is not None else Scope.ORGANIZATION


def _audience(caller: Caller, scope: Scope, project: Project | None) -> UUID:
    if scope is Scope.PROJECT and project is not None:
        return project.id
    if scope is Scope.PERSONAL and caller.user_id is not None:
        return caller.user_id
    if scope is Scope.ORGANIZATION and caller.role in MAY_WRITE_FOR_ALL and _is_person(caller):
        return caller.organization_id
    reasons = {
        Scope.PROJECT: "A memory of a project needs the project; name it in “project”.",
        Scope.PERSONAL: "This credential belongs to no person; use the scope project.",
        Scope.ORGANIZATION: "Only a steward, in the dashboard, writes for the whole organization.",
    }
    raise _wrong("/scope", reasons[scope], "scope")


def _is_person(caller: Caller) -> bool:
    return caller.token_id is None and caller.user_id is not None


def _team(caller: Caller, ref: str | None) -> Team:
    mine = TeamMember.objects.filter(user_id=caller.user_id).values("team_id")
    row = Team.objects.filter(slug=ref or "", id__in=mine).first()
    if row is None:
        raise _wrong("/team", "Name a team you belong to in “team”.", "team")
    return row


def _check_governance(caller: Caller, classification: Classification) -> None:
    if classification.governance is not Governance.CONSTITUTIONAL:
        return
    if _is_person(caller) and caller.role in MAY_WRITE_FOR_ALL:
        return
    raise GovernanceDenied(
        detail="Only a steward, in person, places a memory in the constitutional layer.",
        hint="Leave out the type or tag identity or chain_of_command, or ask a steward.",
    )


def _findings(new: NewMemory) -> tuple[Finding, ...]:
    return secrets.find_secrets(text=new.content)


def _text_errors(new: NewMemory) -> tuple[FieldError, ...]:
    named = [("/content", new.content), ("/external_id", new.external_id)]
    named += [(f"/tags/{i}", tag) for i, tag in enumerate(new.tags)]
    named += [(f"/related_files/{i}", file) for i, file in enumerate(new.related_files)]
    named += [(f"/related_modules/{i}", name) for i, name in enumerate(new.related_modules)]
    return tuple(
        FieldError(pointer=pointer, detail=f"The text has a {fault.kind} character.", code="text")
        for pointer, text in named
        for fault in texts.check_text(text=text)[:1]
    )


def _list_errors(new: NewMemory) -> tuple[FieldError, ...]:
    limits = (
        ("tags", new.tags, MOST_TAGS, LONGEST_TAG),
        ("related_files", new.related_files, MOST_FILES, LONGEST_FILE),
        ("related_modules", new.related_modules, MOST_FILES, LONGEST_FILE // 2),
    )
    errors = []
    for name, items, most, longest in limits:
        if len(items) > most:
            errors.append(_fault(f"/{name}", f"At most {most} are allowed.", "too_many"))
        errors.extend(
            _fault(f"/{name}/{i}", f"Use 1 to {longest} characters.", "length")
            for i, item in enumerate(items)
            if not 0 < len(item) <= longest
        )
    return tuple(errors)


def _value_errors(new: NewMemory) -> tuple[FieldError, ...]:
    errors = []
    for name, value, known in (
        ("type", new.type, MemoryType),
        ("scope", new.scope, Scope),
        ("reach", new.reach, Reach),
        ("source", new.source, Source),
    ):
        if value and value not in {item.value for item in known}:
            names = ", ".join(item.value for item in known)
            errors.append(_fault(f"/{name}", f"{value!r} is not one of: {names}.", "choice"))
    if new.confidence is not None and not 0 <= new.confidence <= 1:
        errors.append(_fault("/confidence", "Use a number from 0 to 1.", "range"))
    if not errors and new.type:
        errors.extend(
            payloads.check_attributes(type=MemoryType(new.type), attributes=new.attributes)
        )
    return tuple(errors)


def _fault(pointer: str, detail: str, code: str) -> FieldError:
    return FieldError(pointer=pointer, detail=detail, code=code)


def _wrong(pointer: str, detail: str, code: str) -> InvalidInput:
    return InvalidInput(
        detail=detail, hint="Correct the named field.", errors=(_fault(pointer, detail, code),)
    )
