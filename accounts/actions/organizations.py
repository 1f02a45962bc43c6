"""Make an organization with its schema, rename it, limit its tokens and events.

Making one takes three commits: the row with its owner, the schema, the mark that it is ready.
Nothing shows an organization before the mark, and whoever asks again after a crash continues the
unfinished one instead of making a second.

What operators do on the admin site stands here too, the installation's first person, and jobs run
again. An operator's act stands in the audit log of each organization that it touches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction

from accounts import audit, free_texts, identifiers, jobs, queries, tenancy
from accounts.actions.tokens import MAXIMUM_DAYS
from accounts.caller import DASHBOARD, Caller, Role, check_manages
from accounts.errors import AddressTaken, FieldError, InvalidInput, wrong_field
from accounts.identifiers import new_id
from accounts.messages import message
from accounts.models import Job, Membership, Organization, Token, User
from accounts.tenancy import provisioning, rls
from accounts.tenancy.rls import JoinedOrganization

KEEP_EVENTS_MOST: Final = 365  # days; a default
LANGUAGES: Final = ("", "en", "fr")  # empty: what the browser asks for
THEMES: Final = ("", "light", "dark")  # empty: what the system shows
NAME_LENGTH: Final = 100  # characters, the column's
ADMIN_SITE: Final = "admin"  # the interface of operators
MAXIMUM_ATTEMPTS: Final = 50  # addresses tried before the id is used as one


def create_organization(
    *, user_id: UUID, name: str, slug: str | None = None, personal: bool = False, now: datetime
) -> JoinedOrganization:
    """Make an organization owned by a person, or finish the one a crash left unfinished.

    Without a slug one is made of the name. Raises InvalidInput, AddressTaken for a given slug.
    """
    name = identifiers.checked_name(name)
    if not personal:  # its name is part of an address that mail was sent to
        free_texts.check(texts={"/name": name, "/slug": slug or ""})
    row = _unfinished(user_id=user_id, name=name, slug=slug, personal=personal)
    if row is None:
        row = _reserve(user_id=user_id, name=name, slug=slug, personal=personal, now=now)
    provisioning.replay(organization=row)
    with audit.unit_of(row):
        Organization.objects.filter(pk=row.pk).update(ready=True)
        founder = audit.Person(user_id=user_id, source_interface=DASHBOARD)
        audit.append("organization.created", "organization", str(row.id), caller=founder)
    return queries.organization_of(user_id=user_id, slug=row.slug)


def change_organization(
    *,
    caller: Caller,
    name: str,
    longest_token_days: int | None = None,
    keep_events_days: int | None = None,
) -> None:
    """Change the name that people see, how long new tokens may live, and events are kept.

    The address stays, and so do tokens made before. Raises InvalidInput, RoleNotSufficient.
    """
    check_manages(caller=caller)
    checked = identifiers.checked_name(name)
    free_texts.check(texts={"/name": checked})
    if longest_token_days is not None and not 1 <= longest_token_days <= MAXIMUM_DAYS:
        detail = message("Tokens live 1 to {most} days at most.", most=MAXIMUM_DAYS)
        raise wrong_field(pointer="/longest_token_days", detail=detail)
    if keep_events_days is not None and not 1 <= keep_events_days <= KEEP_EVENTS_MOST:
        detail = message("Events are kept 1 to {most} days.", most=KEEP_EVENTS_MOST)
        raise wrong_field(pointer="/keep_events_days", detail=detail)
    with audit.unit_of(caller):
        row = Organization.objects.get(pk=caller.organization_id)
        wanted = {
            "name": checked,
            "longest_token_days": longest_token_days,
            "keep_events_days": keep_events_days,
        }
        changed = tuple(field for field, value in wanted.items() if value is not None)
        for field in changed:
            setattr(row, field, wanted[field])
        row.save(update_fields=changed)
        audit.append(
            "organization.changed", "organization", str(row.id), caller=caller, fields=changed
        )


def _unfinished(
    *, user_id: UUID, name: str, slug: str | None, personal: bool
) -> Organization | None:
    wanted = (False, Role.OWNER.value, name, personal)
    for place in rls.places_of(user_id=user_id):
        is_wanted = (place.ready, place.role, place.name, place.personal) == wanted
        if is_wanted and slug in {None, place.slug}:
            with tenancy.walled(organization_id=place.id):
                row: Organization = Organization.objects.get(pk=place.id)
            return row
    return None


def _reserve(
    *, user_id: UUID, name: str, slug: str | None, personal: bool, now: datetime
) -> Organization:
    identifier = new_id()
    row = Organization(
        id=identifier,
        name=name,
        personal=personal,
        schema_name=f"t_{identifier.hex}",
        created_at=now,
    )
    wanted = None if slug is None else identifiers.checked_slug(slug)
    tries = range(1, MAXIMUM_ATTEMPTS + 1)
    made = (identifiers.slug_from(name=name, attempt=attempt) for attempt in tries)
    candidates = (*made, identifier.hex) if wanted is None else (wanted,)
    with tenancy.walled(organization_id=row.id):
        if not any(_insert(row, slug=candidate) for candidate in candidates):
            raise AddressTaken(
                detail=message("The address {slug} is taken.", slug=row.slug),
                hint="Choose another one, or leave it out.",
            )
        Membership.objects.create(
            organization=row, user_id=user_id, role=Role.OWNER, created_at=now
        )
    return row


def _insert(row: Organization, *, slug: str) -> bool:
    """Insert the row under a slug; False when another organization has it."""
    row.slug = slug
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return False
    return True


# What belongs to a person: how they like the pages, and a first organization.


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What a person may choose for the pages."""

    name: str
    language: str
    theme: str
    shortcuts: bool


def save_preferences(*, user_id: UUID, preferences: Preferences) -> None:
    """Keep a person's choices. Raises InvalidInput naming the field."""
    name = preferences.name
    faults = (
        ("/name", message("Name cannot be that."),
         len(name) > NAME_LENGTH or not (name == "" or name.isprintable())),
        ("/language", message("Language cannot be that."), preferences.language not in LANGUAGES),
        ("/theme", message("Theme cannot be that."), preferences.theme not in THEMES),
    )  # fmt: skip
    for pointer, detail, is_wrong in faults:
        if is_wrong:
            raise InvalidInput(
                detail=detail,
                hint="Choose one of the offered values; a name has up to 100 characters.",
                errors=(FieldError(pointer=pointer, detail="not possible", code="choice"),),
            )
    free_texts.check(texts={"/name": name})
    User.objects.filter(pk=user_id).update(**asdict(preferences))


def save_theme(*, user_id: UUID, theme: str) -> None:
    """Keep the theme alone. Raises InvalidInput."""
    if theme not in THEMES:
        raise InvalidInput(detail="There is no such theme.", hint="Use light, dark or neither.")
    User.objects.filter(pk=user_id).update(theme=theme)


def ensure_home(*, user_id: UUID, now: datetime) -> JoinedOrganization:
    """Return the organization a person joined first, making a personal one when there is none.

    May be called again at any time; two calls at once make one organization.
    """
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user_id)
        joined = queries.organizations_of(user_id=user_id)
        if joined:
            return joined[0]
        name = user.email.partition("@")[0]
        return create_organization(user_id=user_id, name=name, personal=True, now=now)


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
        with audit.unit_of(organization):
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
        with audit.unit_of(organization):
            ids = sorted(wanted.filter(organization=organization).values_list("id", flat=True))
            queued = [job_id for job_id in ids if jobs.retry(job_id=job_id)]
            _note(operator_id, "job.retried", "job", queued)
        again += len(queued)
    return again


def note_organization(
    *, operator_id: UUID, organization: Organization, fields: tuple[str, ...]
) -> None:
    """Tell an organization's log which of its fields an operator has changed."""
    with audit.unit_of(organization):
        _note(operator_id, "organization.changed", "organization", [organization.id], fields)


def note_person(*, operator_id: UUID, user_id: UUID, fields: tuple[str, ...]) -> None:
    """Tell the log of every organization of a person what an operator has changed of them."""
    person = User.objects.get(pk=user_id)
    for organization in _organizations(
        person.memberships.values_list("organization_id", flat=True)
    ):
        with audit.unit_of(organization):
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
    with audit.unit_of(caller):
        is_done = jobs.retry(job_id=job_id)
        if is_done:
            audit.append("job.retried", "job", str(job_id), caller=caller)
    return is_done


def cancel_job(*, caller: Caller, job_id: UUID) -> bool:
    """Cancel a job that has not begun; False when it is in another state."""
    with audit.unit_of(caller):
        is_done = jobs.cancel(job_id=job_id)
        if is_done:
            audit.append("job.cancelled", "job", str(job_id), caller=caller)
    return is_done
