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
from django.db.models import Model

from accounts import audit, live, tenancy
from accounts.caller import Role
from accounts.errors import Conflict, NotFound
from accounts.messages import message
from accounts.models import Invitation, Membership, Organization, SessionRow, User
from accounts.queries import organizations_of
from accounts.tenancy.rls import JoinedOrganization
from memory.erasure.actions import rows
from memory.records.models import Memory
from memory.sessions.models import GivenOut, Session
from teams.models import IdempotencyKey

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
    joined = organizations_of(user_id=person.pk)
    _check_owners(joined)
    operator = audit.Person(user_id=by, source_interface="command")
    found = tuple(_erase_in(row, person, operator, now) for row in joined)
    live.wake_pages_of(user_id=person.pk)
    with tenancy.operating():
        SessionRow.objects.filter(user_id=person.pk).delete()
        Invitation.objects.filter(email__iexact=person.email).delete()
        person.delete()
    return found


def models_with_audience() -> tuple[type[Model], ...]:
    """Return every model of an organization whose rows one person alone may see."""
    found = (
        model
        for app in settings.TENANT_APPS
        for model in apps.get_app_config(app).get_models()
        if any(field.name == AUDIENCE for field in model._meta.get_fields())
    )
    return tuple(found)


def _check_owners(joined: tuple[JoinedOrganization, ...]) -> None:
    """Raise Conflict where nobody else owns an organization."""
    last = []
    for row in joined:
        with tenancy.walled(organization_id=row.id):
            owners = Membership.objects.filter(organization_id=row.id, role=Role.OWNER.value)
            if row.role is Role.OWNER and owners.count() == 1:
                last.append(row.slug)
    if last:
        raise Conflict(
            detail=message("Nobody else owns: {organizations}.", organizations=", ".join(last)),
            hint="Make somebody else owner first, or delete the organization: "
            "manage.py drop ORGANIZATION.",
        )


def _erase_in(
    joined: JoinedOrganization, person: User, operator: audit.Person, now: datetime
) -> ErasedFromOrganization:
    with tenancy.walled(organization_id=joined.id):
        organization = Organization.objects.get(pk=joined.id)
    user_id = person.pk
    with audit.unit_of(organization):
        own = Memory.objects.select_for_update().filter(audience=user_id).order_by("id")
        memory_ids = tuple(own.values_list("id", flat=True))
        sessions = Session.objects.filter(audience=user_id)
        session_ids = tuple(sessions.values_list("id", flat=True))
        done = rows.erase_rows(memory_ids=memory_ids, now=now)
        rows.strip_provenance(session_ids=session_ids)
        given = GivenOut.all_rows.filter(person=user_id) | GivenOut.all_rows.filter(
            session_id__in=session_ids
        )
        others, _ = given.delete()
        others += _delete_rows(user_id, organization)
        numbers = {
            "memories": done.memories, "sessions": len(session_ids),
            "others": others - len(session_ids),
        }  # fmt: skip
        audit.append(ACT, "user", str(user_id), caller=operator, details=numbers)
    return ErasedFromOrganization(slug=joined.slug, **numbers)


def _delete_rows(user_id: UUID, organization: Organization) -> int:
    """Delete what stands under a person's audience, the answers kept for them, and their part."""
    tokens = organization.tokens.filter(user_id=user_id)
    principals = [
        f"user:{user_id}",
        *(f"token:{one}" for one in tokens.values_list("id", flat=True)),
    ]
    deleted, _ = IdempotencyKey.objects.filter(principal__in=principals).delete()
    for model in models_with_audience():
        gone, _ = model._default_manager.filter(**{AUDIENCE: user_id}).delete()
        deleted += gone
    tokens.delete()
    organization.memberships.filter(user_id=user_id).delete()
    return deleted
