"""What belongs to a person: how they like the pages, and a first organization."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from accounts import free_texts
from accounts.actions.organizations import create_organization
from accounts.errors import FieldError, InvalidInput
from accounts.messages import message
from accounts.models import User
from accounts.queries import directory
from accounts.queries.directory import OrganizationView

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
