"""Delete a person's account, and in each organization what they alone can see.

What they shared stays the organization's: their memories in projects and teams, sessions that were
shared, and the audit log, which knows them by an id that nobody can resolve any more.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db.models import Model, Q

from accounts import audit, live, tenancy
from accounts.caller import Role, Tenant
from accounts.errors import Conflict, NotFound
from accounts.messages import message
from accounts.models import Invitation, Membership, Organization, SessionRow, User
from accounts.queries import organizations_of
from memory.erasure.actions import rows
from memory.records.models import Memory
from memory.sessions.models import GivenOut, Session
from teams import visibility
from teams.models import IdempotencyKey, ProjectMember, TeamMember

ACT: Final = "member.erased"
AUDIENCE: Final = "audience"  # the column of rows that somebody alone may see


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedFromOrganization:
    """What went in one organization: memories and sessions of theirs alone, and all other rows."""

    slug: str
    memories: int
    sessions: int
    others: int


def erase_person(
    *, email: str, by: UUID | None, now: datetime
) -> tuple[ErasedFromOrganization, ...]:
    """Delete an account with all that is its person's alone; `by` is the operator, where known.

    May be repeated when it was interrupted. Raises NotFound, and Conflict while an organization
    has no other owner.
    """
    person = User.objects.filter(email__iexact=email.strip()).first()
    if person is None:
        raise NotFound(detail="There is no such account.", hint="Check the e-mail address.")
    _check_owners(person)
    operator = audit.Person(user_id=by, source_interface="command")
    # also where they were taken out: what was theirs alone is still there
    each = [_erase_in(tenant, person, operator, now) for tenant in tenancy.each_organization()]
    live.wake_pages_of(user_id=person.pk)
    with tenancy.operating():
        SessionRow.objects.filter(user_id=person.pk).delete()
        Invitation.objects.filter(email__iexact=person.email).delete()
        person.delete()
    return tuple(one for one in each if one is not None)


def models_with_audience() -> tuple[type[Model], ...]:
    """Return every model of an organization whose rows one person alone may see."""
    found = (
        model
        for app in settings.TENANT_APPS
        for model in apps.get_app_config(app).get_models()
        if any(field.name == AUDIENCE for field in model._meta.get_fields())
    )
    return tuple(found)


def _check_owners(person: User) -> None:
    """Raise Conflict where nobody else owns an organization, before anything is deleted."""
    last = []
    for row in organizations_of(user_id=person.pk):
        with tenancy.walled(organization_id=row.id):
            if _is_last_owner(row.id, person):
                last.append(row.slug)
    if last:
        raise _last_owner(", ".join(last))


def _is_last_owner(organization_id: UUID, person: User) -> bool:
    owners = Membership.objects.filter(organization_id=organization_id, role=Role.OWNER.value)
    return set(owners.values_list("user_id", flat=True)) == {person.pk}


def _last_owner(organizations: str) -> Conflict:
    return Conflict(
        detail=message("Nobody else owns: {organizations}.", organizations=organizations),
        hint="Make somebody else owner first, or delete the organization: "
        "manage.py drop ORGANIZATION.",
    )


def _erase_in(
    tenant: Tenant, person: User, operator: audit.Person, now: datetime
) -> ErasedFromOrganization | None:
    """Delete what is theirs alone in one organization; None where there is nothing of them."""
    user_id = person.pk
    with tenancy.enter(tenant), tenancy.unit():
        # as whoever changes members does, so that two owners do not leave at the same time
        organization = Organization.objects.select_for_update().get(pk=tenant.organization_id)
        if _is_last_owner(organization.id, person):
            raise _last_owner(tenant.slug)
        is_member = organization.memberships.filter(user_id=user_id).exists()
        own = Memory.objects.select_for_update().filter(audience=user_id).order_by("id")
        memory_ids = tuple(own.values_list("id", flat=True))
        session_ids = tuple(Session.objects.filter(audience=user_id).values_list("id", flat=True))
        done = rows.erase_rows(memory_ids=memory_ids, actor=operator, now=now)
        rows.strip_provenance(session_ids=session_ids)
        given = Q(person=user_id) | Q(session_id__in=session_ids)
        others, _ = GivenOut.all_rows.filter(given).delete()
        others += _delete_rows(user_id, organization) - len(session_ids)
        numbers = {"memories": done.memories, "sessions": len(session_ids), "others": others}
        if not is_member and not any(numbers.values()):
            return None
        audit.append(ACT, "user", str(user_id), caller=operator, details=numbers)
    return ErasedFromOrganization(slug=tenant.slug, **numbers)


def _delete_rows(user_id: UUID, organization: Organization) -> int:
    """Delete what stands under a person's audience, the answers kept for them, and their part.

    Returns how many rows of their audience, and answers, went.
    """
    tokens = organization.tokens.filter(user_id=user_id)
    principals = [
        f"user:{user_id}",
        *(f"token:{one}" for one in tokens.values_list("id", flat=True)),
    ]
    deleted, _ = IdempotencyKey.objects.filter(principal__in=principals).delete()
    for model in models_with_audience():
        gone, _ = model._default_manager.filter(**{AUDIENCE: user_id}).delete()
        deleted += gone
    ProjectMember.objects.filter(user_id=user_id).delete()
    TeamMember.objects.filter(user_id=user_id).delete()
    visibility.forget()
    tokens.delete()
    organization.memberships.filter(user_id=user_id).delete()
    return deleted
