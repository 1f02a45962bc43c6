"""Make an organization with its schema, rename it, limit its tokens and events.

Making one takes three commits: the row with its owner, the schema, the mark that it is ready.
Nothing shows an organization before the mark, and whoever asks again after a crash continues the
unfinished one instead of making a second.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import audit, free_texts, identifiers, rights, tenancy
from accounts.actions.tokens import MAXIMUM_DAYS
from accounts.caller import DASHBOARD, Caller, Role
from accounts.errors import AddressTaken, FieldError, InvalidInput, wrong_field
from accounts.identifiers import new_id
from accounts.messages import message
from accounts.models import Membership, Organization, User
from accounts.queries import directory
from accounts.queries.directory import OrganizationView
from accounts.tenancy import provisioning, security_definers

KEEP_EVENTS_MOST: Final = 365  # days; a default
MAXIMUM_ATTEMPTS: Final = 50  # addresses tried before the id is used as one


def create_organization(
    *, user_id: UUID, name: str, slug: str | None = None, personal: bool = False, now: datetime
) -> OrganizationView:
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
    with audit.organization_unit(organization=row):
        Organization.objects.filter(pk=row.pk).update(ready=True)
        founder = audit.Person(user_id=user_id, source_interface=DASHBOARD)
        audit.append("organization.created", "organization", str(row.id), caller=founder)
    return directory.organization_of(user_id=user_id, slug=row.slug)


def change_organization(
    *,
    caller: Caller,
    name: str,
    longest_token_days: int | None = None,
    keep_events_days: int | None = None,
) -> OrganizationView:
    """Change the name that people see, how long new tokens may live, and events are kept.

    The address stays, and so do tokens made before. Raises InvalidInput, RoleNotSufficient.
    """
    rights.check_manages(caller=caller)
    checked = identifiers.checked_name(name)
    free_texts.check(texts={"/name": checked})
    if longest_token_days is not None and not 1 <= longest_token_days <= MAXIMUM_DAYS:
        detail = message("Tokens live 1 to {most} days at most.", most=MAXIMUM_DAYS)
        raise wrong_field(pointer="/longest_token_days", detail=detail)
    if keep_events_days is not None and not 1 <= keep_events_days <= KEEP_EVENTS_MOST:
        detail = message("Events are kept 1 to {most} days.", most=KEEP_EVENTS_MOST)
        raise wrong_field(pointer="/keep_events_days", detail=detail)
    with audit.caller_unit(caller=caller):
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
    return directory.organization_view(row, role=caller.role)


def _unfinished(
    *, user_id: UUID, name: str, slug: str | None, personal: bool
) -> Organization | None:
    wanted = (False, Role.OWNER.value, name, personal)
    for place in security_definers.places_of(user_id=user_id):
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

LANGUAGES: Final = ("", "en", "fr")  # empty: what the browser asks for
THEMES: Final = ("", "light", "dark")  # empty: what the system shows
NAME_LENGTH: Final = 100  # characters, the column's


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
    is_name = len(name) <= NAME_LENGTH and (name == "" or name.isprintable())
    no_language = message("Language cannot be that.")
    faults = (
        ("/name", message("Name cannot be that."), not is_name),
        ("/language", no_language, preferences.language not in LANGUAGES),
        ("/theme", message("Theme cannot be that."), preferences.theme not in THEMES),
    )
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


def ensure_home(*, user_id: UUID, now: datetime) -> OrganizationView:
    """Return the organization a person joined first, making a personal one when there is none.

    May be called again at any time; two calls at once make one organization.
    """
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user_id)
        joined = directory.organizations_of(user_id=user_id)
        if joined:
            return joined[0]
        name = user.email.partition("@")[0]
        return create_organization(user_id=user_id, name=name, personal=True, now=now)
