"""End tokens that were found where they should not be, and tell their owners.

Whoever holds the whole text could use the token, so a finder needs no other right to end it. The
mail goes out as a job: sending it here would tell the finder by the time it takes.
"""

from datetime import datetime
from smtplib import SMTPException
from typing import Final
from uuid import UUID

from django.core.mail import send_mail
from django.template.loader import render_to_string

from accounts import audit, jobs, tenancy, tokens
from accounts.backend import peppers
from accounts.errors import InvalidToken, Unavailable
from accounts.models import Organization, Token
from accounts.sql import doors
from accounts.sql.doors import Presented

TELL: Final = "accounts.tell_leak"
LANGUAGES: Final = ("en", "fr")
FINDER: Final = audit.Person(user_id=None, source_interface="api")


def end_leaked(*, text: str, now: datetime) -> int:
    """End every living token that stands in a text; return how many there were."""
    return sum(_end(found, now=now) for found in set(tokens.TOKEN_PATTERN.findall(text)))


def tell_owner(*, token_id: UUID) -> bool:
    """Tell the owner of a token of the entered organization that it leaked and was ended.

    Returns False when the token is no more. Raises Unavailable when no mail can be sent.
    """
    with tenancy.unit():
        row = Token.objects.select_related("user", "organization").filter(pk=token_id).first()
    if row is None:
        return False
    _mail(row, row.organization)
    return True


def _end(text: str, *, now: datetime) -> bool:
    row = _living(text, now)
    if row is None:
        return False
    with (
        tenancy.enter(
            organization_id=row.organization_id,
            slug=row.organization_slug,
            schema_name=row.schema_name,
        ),
        tenancy.unit(),
    ):
        ended = Token.objects.filter(pk=row.id, revoked_at=None).update(revoked_at=now)
        if ended:
            _note(row)
    return bool(ended)


def _living(text: str, now: datetime) -> Presented | None:
    try:
        parsed = tokens.parse(text=text)
    except InvalidToken:
        return None
    row = doors.present_token(lookup=parsed.lookup_id)
    if row is None or not peppers.is_of(stored=row.digest, text=parsed.text):
        return None
    is_over = row.revoked_at is not None or row.expires_at <= now or not row.is_ready
    return None if is_over else row


def _note(row: Presented) -> None:
    audit.append(
        act="token.leaked",
        object_type="token",
        object_id=str(row.id),
        caller=FINDER,
        details={"of": str(row.user_id)},
    )
    jobs.enqueue(TELL, payload={"token": str(row.id)}, key=str(row.id))


def _mail(row: Token, organization: Organization) -> None:
    person = row.user
    language = person.language if person.language in LANGUAGES else LANGUAGES[0]
    context = {"token": row, "organization": organization, "name": person.name}
    written = render_to_string(f"accounts/leaked_token.{language}.txt", context)
    subject, _, body = written.partition("\n")
    try:
        send_mail(" ".join(subject.split()), body.lstrip(), None, [person.email])
    except (SMTPException, OSError) as error:
        raise Unavailable(
            detail="The mail server does not answer.", hint="The mail is sent later."
        ) from error
