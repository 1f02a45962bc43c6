"""Whose session a cookie is, asked anew each time: for sockets, which outlive requests.

Pages ask through Django's middleware. That one also renews what it finds under an earlier secret
key, which only an answer with a cookie can do; this one only looks.
"""

from uuid import UUID

from django.contrib import auth
from django.core.exceptions import ValidationError
from django.utils.crypto import constant_time_compare

from accounts.backend.sessions import SessionStore
from accounts.models import User


def person_of(*, session_key: str) -> UUID | None:
    """Return who is signed in by this session.

    None when it has ended, when the password was changed since, and when the account is not active.
    """
    held = SessionStore(session_key).load()
    try:
        named = str(held.get(auth.SESSION_KEY, ""))
        person = User.objects.filter(pk=named, is_active=True).first()
    except ValidationError:
        return None
    if person is None or not _is_fresh(person, str(held.get(auth.HASH_SESSION_KEY, ""))):
        return None
    return UUID(str(person.pk))


def _is_fresh(person: User, made: str) -> bool:
    """Say whether a session was made with the password that the person has now."""
    known = (person.get_session_auth_hash(), *person.get_session_auth_fallback_hash())
    return any(constant_time_compare(made, one) for one in known)
