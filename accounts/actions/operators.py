"""What operators do on the admin site, the installation's first person, and jobs run again.

An operator's act stands in the audit log of each organization that it touches.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import transaction

from accounts import audit, jobs
from accounts.caller import Caller
from accounts.models import Job, Organization, Token, User

ADMIN_SITE: Final = "admin"  # the interface of operators


def install_owner(*, email: str, password: str) -> UUID:
    """Store an operator with this password and a verified address; a known one gets both again."""
    with transaction.atomic():
        user = User.objects.select_for_update().filter(email__iexact=email).first()
        if user is None:
            user = User.objects.create_superuser(email, password)
        user.is_active = user.is_staff = user.is_superuser = True
        user.set_password(password)
        user.save()
        EmailAddress.objects.update_or_create(
            user=user, email=user.email, defaults={"verified": True, "primary": True}
        )
    return user.id


def revoke_tokens(*, operator_id: UUID, token_ids: tuple[UUID, ...], now: datetime) -> int:
    """End tokens at once, whoever has them; return how many had not ended."""
    living = Token.objects.filter(pk__in=token_ids, revoked_at=None)
    ended = 0
    for organization in _organizations(living.values_list("organization_id", flat=True)):
        with audit.organization_unit(organization=organization):
            rows = living.filter(organization=organization).select_for_update(of=("self",))
            ids = sorted(rows.values_list("id", flat=True))
            ended += Token.objects.filter(pk__in=ids).update(revoked_at=now)
            _note(operator_id, "token.revoked", "token", ids)
    return ended


def retry_jobs(*, operator_id: UUID, job_ids: tuple[UUID, ...]) -> int:
    """Queue jobs again that ended without success; return how many there were."""
    wanted = Job.objects.filter(pk__in=job_ids)
    again = 0
    for organization in _organizations(wanted.values_list("organization_id", flat=True)):
        with audit.organization_unit(organization=organization):
            ids = sorted(wanted.filter(organization=organization).values_list("id", flat=True))
            queued = [job_id for job_id in ids if jobs.retry(job_id=job_id)]
            _note(operator_id, "job.retried", "job", queued)
        again += len(queued)
    return again


def note_organization(
    *, operator_id: UUID, organization: Organization, fields: tuple[str, ...]
) -> None:
    """Tell an organization's log which of its fields an operator has changed."""
    with audit.organization_unit(organization=organization):
        _note(operator_id, "organization.changed", "organization", [organization.id], fields)


def note_person(*, operator_id: UUID, user_id: UUID, fields: tuple[str, ...]) -> None:
    """Tell the log of every organization of a person what an operator has changed of them."""
    person = User.objects.get(pk=user_id)
    for organization in _organizations(
        person.memberships.values_list("organization_id", flat=True)
    ):
        with audit.organization_unit(organization=organization):
            _note(operator_id, "member.changed", "user", [user_id], fields)


def _organizations(ids: Iterable[UUID]) -> tuple[Organization, ...]:
    """Return organizations in one order, so that two operators never wait for each other."""
    return tuple(Organization.objects.filter(pk__in=set(ids), ready=True).order_by("id"))


def _note(
    operator_id: UUID, act: str, kind: str, ids: Sequence[UUID], fields: tuple[str, ...] = ()
) -> None:
    if not ids:
        return
    audit.append(
        act=act,
        object_type=kind,
        object_id=str(ids[0]),
        caller=audit.Person(user_id=operator_id, source_interface=ADMIN_SITE),
        details={"ids": [str(one) for one in ids]} if len(ids) > 1 else None,
        fields=fields,
    )


def retry_job(*, caller: Caller, job_id: UUID) -> bool:
    """Queue a job again that ended without success; False when it is in another state."""
    with audit.caller_unit(caller=caller):
        is_done = jobs.retry(job_id=job_id)
        if is_done:
            audit.append("job.retried", "job", str(job_id), caller=caller)
    return is_done


def cancel_job(*, caller: Caller, job_id: UUID) -> bool:
    """Cancel a job that has not begun; False when it is in another state."""
    with audit.caller_unit(caller=caller):
        is_done = jobs.cancel(job_id=job_id)
        if is_done:
            audit.append("job.cancelled", "job", str(job_id), caller=caller)
    return is_done
