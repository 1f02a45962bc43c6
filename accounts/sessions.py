"""Sessions of which the database holds nothing usable: the cookie has the key, the row its digest.

A row says whose it is, and what it holds says since when and in which browser, so that people see
where they are signed in and end what is not theirs.

In Django's own store the key of a row is the cookie itself, so whoever reads the table is everybody
who is signed in. Here the row's key is a keyed digest and what the session holds (the secret of a
second factor being set up, the key of a reset link) is encrypted. A session found under an earlier
pepper is moved to the pepper of now.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from cryptography.fernet import InvalidToken
from django.contrib import auth
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import ValidationError
from django.db.models import Case, When
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts import live, peppers
from accounts.identifiers import as_uuid
from accounts.models import SessionRow, User

ROW_KEY_LENGTH: Final = 40  # characters, the column's; 160 bits of the digest
SIGNED_IN: Final = "signed_in"  # in a session: since when, and by what
LONGEST_BROWSER: Final = 300  # characters of what a browser calls itself
MOST_LISTED: Final = 100  # sessions of a person, the newest
SHORT: Final = 16  # signs of a row's key by which its person names a session


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInBrowser:
    """Where a person is signed in: since when, what the browser calls itself, and from where.

    `ref` names the session to its person; `is_this` where it is the one that asks. What a session
    from before does not hold is None or empty.
    """

    ref: str
    since: datetime | None
    agent: str
    network: str
    is_this: bool


class SessionStore(db.SessionStore):
    """Django's sessions in the database, without their keys."""

    @classmethod
    def get_model_class(cls) -> type[SessionRow]:
        """Return the model of the rows."""
        return SessionRow

    def encode(self, session_dict: dict[str, Any]) -> str:
        """Return what is stored of a session."""
        written = super().encode(session_dict).encode()
        return peppers.cipher(purpose=peppers.SESSIONS).encrypt(written).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return what a stored session holds; one that cannot be read holds nothing."""
        try:
            written = peppers.cipher(purpose=peppers.SESSIONS).decrypt(session_data)
        except InvalidToken:
            return {}
        return super().decode(written.decode())

    def exists(self, session_key: str) -> bool:
        """Say whether there is such a session."""
        return bool(self.model.objects.filter(pk__in=row_keys(session_key=session_key)).exists())

    async def aexists(self, session_key: str) -> bool:
        """Say whether there is such a session."""
        return await sync_to_async(self.exists)(session_key)

    def create_model_instance(self, data: dict[str, Any]) -> SessionRow:
        """Return the row of this session."""
        row: SessionRow = super().create_model_instance(data)  # type: ignore[assignment]  # its model
        row.session_key = row_keys(session_key=row.session_key)[0]
        row.user_id = as_uuid(text=str(data.get(auth.SESSION_KEY, "")))
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> SessionRow:
        """Return the row of this session."""
        return await sync_to_async(self.create_model_instance)(data)

    def delete(self, session_key: str | None = None) -> None:
        """Delete this session, or another one."""
        key = session_key or self.session_key
        if key is not None:
            self.model.objects.filter(pk__in=row_keys(session_key=key)).delete()

    async def adelete(self, session_key: str | None = None) -> None:
        """Delete this session, or another one."""
        await sync_to_async(self.delete)(session_key)

    def _get_session_from_db(self) -> SessionRow | None:
        keys = row_keys(session_key=self.session_key or "")
        living = SessionRow.objects.filter(pk__in=keys, expire_date__gt=timezone.now())
        row = living.first()
        if row is None:
            self._session_key = None
        elif row.session_key != keys[0]:
            again = self.encode(self.decode(row.session_data))
            stored = SessionRow.objects.filter(pk=row.session_key)
            stored.update(session_key=keys[0], session_data=again)
        elif row.user_id is None:  # from before rows said whose they are, or nobody's
            named = self.decode(row.session_data).get(auth.SESSION_KEY)
            if named is not None:
                SessionRow.objects.filter(pk=row.pk).update(user_id=as_uuid(text=str(named)))
        return row

    async def _aget_session_from_db(self) -> SessionRow | None:
        return await sync_to_async(self._get_session_from_db)()


def row_keys(*, session_key: str) -> tuple[str, ...]:
    """Return the keys of rows that a session may have: under the pepper of now, then earlier."""
    text = session_key.encode("utf-8", "surrogatepass").hex()
    made = peppers.digests(text=f"session:{text}")
    return tuple(digest[:ROW_KEY_LENGTH] for digest in made)


def person_of(*, session_key: str) -> UUID | None:
    """Return who is signed in by this session.

    None when it has ended, when the password was changed since, and when the account is not active.
    """
    return _person_in(SessionStore(session_key).load())


def note_sign_in(*, session: SessionBase, agent: str, network: str, now: datetime) -> None:
    """Have a session say since when somebody is signed in by it, and in which browser."""
    session[SIGNED_IN] = {
        "at": now.isoformat(), "agent": agent[:LONGEST_BROWSER], "network": network
    }  # fmt: skip


def signed_in(*, user_id: UUID, session_key: str, now: datetime) -> tuple[SignedInBrowser, ...]:
    """Return where a person is signed in, this browser first, then the newest; at most 100."""
    person = User.objects.get(pk=user_id)
    own = row_keys(session_key=session_key)
    store, found = SessionStore(), []
    rows = SessionRow.objects.filter(user_id=user_id, expire_date__gt=now)
    first = Case(When(pk__in=own, then=0), default=1)
    for row in rows.order_by(first, "-expire_date", "pk")[:MOST_LISTED]:
        held = store.decode(row.session_data)
        if not _is_signed_in(person, held):
            continue
        noted = held.get(SIGNED_IN, {})
        found.append(
            SignedInBrowser(
                ref=row.session_key[:SHORT],
                since=datetime.fromisoformat(noted["at"]) if "at" in noted else None,
                agent=noted.get("agent", ""),
                network=noted.get("network", ""),
                is_this=row.session_key in own,
            )
        )
    return tuple(found)


def end_sessions(*, user_id: UUID, session_key: str, ref: str | None) -> int:
    """End one session of a person, or all but the one that asks; return how many ended."""
    rows = SessionRow.objects.filter(user_id=user_id)
    if ref is None:
        rows = rows.exclude(pk__in=row_keys(session_key=session_key))
    else:
        rows = rows.filter(pk__startswith=ref) if len(ref) == SHORT else rows.none()
    ended, _ = rows.delete()
    live.wake_pages_of(user_id=user_id)
    return ended


def _person_in(held: Mapping[str, Any]) -> UUID | None:
    """Return who is signed in by what a session holds, as `person_of` does."""
    try:
        named = str(held.get(auth.SESSION_KEY, ""))
        person = User.objects.filter(pk=named, is_active=True).first()
    except ValidationError:
        return None
    return person.pk if person is not None and _is_signed_in(person, held) else None


def _is_signed_in(person: User, held: Mapping[str, Any]) -> bool:
    """Say whether a session that names a person was begun with their password of now."""
    made = str(held.get(auth.HASH_SESSION_KEY, ""))  # of the password then
    known = (person.get_session_auth_hash(), *person.get_session_auth_fallback_hash())
    return any(constant_time_compare(made, one) for one in known)
