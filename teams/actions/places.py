"""What making and changing projects and teams have in common."""

import re
from typing import Final

from django.db import IntegrityError, transaction

from accounts.errors import PreconditionFailed, wrong_field
from accounts.sentences import sentence
from teams.errors import SlugTaken
from teams.models import Project, Team

SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")


def check_slug(*, slug: str) -> None:
    """Raise InvalidInput unless a text can be a short name."""
    if SLUG.match(slug):
        return
    raise wrong_field(
        pointer="/slug",
        detail=sentence("{slug!r} cannot be a short name.", slug=slug),
        hint="Use 1 to 64 lower-case letters, digits and inner hyphens.",
        code="slug",
    )


def insert(*, row: Project | Team) -> None:
    """Store a new row. Raises SlugTaken."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise SlugTaken(
            detail=sentence("The short name {slug!r} is taken.", slug=row.slug),
            hint="Choose another short name.",
        ) from error


def check_version(*, row: Project | Team, if_version: int | None) -> None:
    """Check that a locked row is the version a writer has read, where they named one.

    Raises PreconditionFailed when it has changed since.
    """
    if if_version is None or row.version == if_version:
        return
    raise PreconditionFailed(
        detail=sentence(
            "It is at version {number}, not {asked}.", number=row.version, asked=if_version
        ),
        hint="Read it again, merge your change, and send it with the new ETag.",
    )
