"""The live socket: tells an open page what changed, resumed from the page's own cursor.

The channel layer only says that there is more; every message is read from the feed through the
visibility predicate with a Caller made anew, and a reconnect is the same as a first connect:
nothing is missed, nothing comes twice. Whoever signs out, changes a password, or loses a membership
or a role is called through a group of their own, and every read asks for the session and the rights
again. A page also looks unasked every few seconds, so this holds without Redis too, and what the
channel layer lost arrives. One that does not read in time is dropped and returns with its cursor.
"""

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import translation

from accounts import live as bell
from accounts import metrics, tenancy
from accounts.authentication import caller_from_session, entered
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from accounts.sessions import person_of
from frontend.presenters import activity_feed
from memory.sessions import queries as sessions
from teams.changes import GROUP

log = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 4.0  # after which an end of rights shows without Redis; 5 s are promised
SHOWN_LOOK_AGAIN_S: Final = 1.5  # the same for a page of a session: steps ring no bell
READ_GAP_S: Final = 0.2  # at most five reads a second for a page
SEND_TIMEOUT_S: Final = 5.0
SIGNED_OUT: Final = 4401
NOT_A_MEMBER: Final = 4403
TRY_LATER: Final = 1013
LANGUAGES: Final = ("en", "fr")


class SocketQuery(NamedTuple):
    """What a page asks to hear: by which session, of which organization and project, how said.

    `shown` is the session of an agent that the page shows.
    """

    session_key: str
    organization: str
    project: str | None
    language: str
    shown: UUID | None = None


class SignedOut(Exception):
    """The session that opened the socket has ended."""


class ChangesConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One open page of one person."""

    look_again_s = LOOK_AGAIN_S
    shown_look_again_s = SHOWN_LOOK_AGAIN_S

    async def connect(self) -> None:
        """Take the page in: same origin, signed in, a member; then send what it has missed."""
        self.groups_heard: tuple[str, ...] = ()
        self.pump: asyncio.Task[None] | None = None
        if not same_origin(scope=self.scope):
            await self.close()
            return
        await self.accept()
        self.pulse = ""
        self.query, self.cursor = query_of(scope=self.scope)
        self.more = asyncio.Event()
        try:
            for group in await database_sync_to_async(_groups)(self.query):
                await self.channel_layer.group_add(group, self.channel_name)
                self.groups_heard += (group,)
        except SignedOut:
            await self.close(code=SIGNED_OUT)
        except NotFound:
            await self.close(code=NOT_A_MEMBER)
        except (*bell.AWAY, DatabaseError) as error:
            log.warning("A live page was sent away: %s", type(error).__name__)
            await self.close(code=TRY_LATER)
        else:
            self.more.set()
            metrics.LIVE_PAGES.inc()
            self.pump = asyncio.create_task(self._pump())
            self.pump.add_done_callback(self._pump_ended)

    async def disconnect(self, code: int) -> None:
        """Let the page go."""
        if self.pump is not None:
            metrics.LIVE_PAGES.dec()
            self.pump.cancel()
        for group in self.groups_heard:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Ignore what pages send; they have nothing to say here."""

    async def feed_grew(self, event: dict[str, Any]) -> None:
        """Hear from the channel layer that there is more to read."""
        self.more.set()

    async def _pump(self) -> None:
        """Send what there is whenever there is more, and every few seconds unasked."""
        look_again_s = self.look_again_s if self.query.shown is None else self.shown_look_again_s
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.more.wait(), timeout=look_again_s)
            self.more.clear()
            try:
                await self._send_page()
            except SignedOut:
                await self.close(code=SIGNED_OUT)
                return
            except NotFound:
                await self.close(code=NOT_A_MEMBER)
                return
            except (TimeoutError, DatabaseError) as error:
                log.info("A live page was dropped: %s", type(error).__name__)
                await self.close(code=TRY_LATER)
                return
            await asyncio.sleep(READ_GAP_S)

    def _pump_ended(self, pump: asyncio.Task[None]) -> None:
        """Send the page away when the pump broke: an open socket that tells nothing is worse."""
        if not pump.cancelled() and (error := pump.exception()) is not None:
            log.error("A live page was dropped", exc_info=error)
            self.leaving = asyncio.create_task(self.close(code=TRY_LATER))

    async def _send_page(self) -> None:
        """Send the changes, and that the session shown has grown, once a look in which it has."""
        messages, pulse = await database_sync_to_async(_read)(self.query, self.cursor)
        for message in messages:
            text = json.dumps(message)
            await asyncio.wait_for(self.send(text_data=text), timeout=SEND_TIMEOUT_S)
            self.cursor = message["id"]
        if len(messages) == activity_feed.MESSAGES:
            self.more.set()
        if pulse != self.pulse:
            text = json.dumps({"type": "session", "id": str(self.query.shown)})
            await asyncio.wait_for(self.send(text_data=text), timeout=SEND_TIMEOUT_S)
            self.pulse = pulse


def same_origin(*, scope: dict[str, Any]) -> bool:
    """Say whether the page that opens the socket came from the host it connects to, as safely."""
    headers = dict(scope["headers"])
    origin = urlsplit(headers.get(b"origin", b"").decode("latin-1"))
    if settings.SESSION_COOKIE_SECURE and origin.scheme != "https":
        return False
    return bool(origin.netloc) and origin.netloc == headers.get(b"host", b"").decode("latin-1")


def query_of(*, scope: dict[str, Any]) -> tuple[SocketQuery, int]:
    """Read what a page asks for, and the last change it has seen."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    digits = query.get("cursor", [""])[0]
    language = query.get("language", [""])[0]
    wanted = SocketQuery(
        session_key=scope["cookies"].get(settings.SESSION_COOKIE_NAME, ""),
        organization=scope["url_route"]["kwargs"]["org"],
        project=query.get("project", [None])[0],
        language=language if language in LANGUAGES else LANGUAGES[0],
        shown=as_uuid(text=query.get("session", [""])[0]),
    )
    is_usable = digits.isdecimal() and len(digits) <= activity_feed.CURSOR_DIGITS
    return wanted, int(digits) if is_usable else 0


def _groups(query: SocketQuery) -> tuple[str, ...]:
    user_id, caller = _admitted(query)
    with entered(caller):
        return (tenancy.group(GROUP), bell.person_group(user_id=user_id))


def _read(query: SocketQuery, after: int) -> tuple[list[dict[str, Any]], str]:
    """Return the messages after a cursor, and how far the session shown is.

    That is empty for one that may not be seen (any more).
    """
    _user_id, caller = _admitted(query)
    with entered(caller), translation.override(query.language):
        pulse = ""
        messages = activity_feed.messages(caller=caller, after=after, project=query.project)
        if query.shown is not None:
            with suppress(NotFound):
                pulse = sessions.pulse(caller=caller, session_id=query.shown)
        return messages, pulse


def _admitted(query: SocketQuery) -> tuple[UUID, Caller]:
    """Return who asks, now. Raises SignedOut, or NotFound for who does not belong (any more)."""
    user_id = person_of(session_key=query.session_key)
    if user_id is None:
        raise SignedOut
    return user_id, caller_from_session(user_id=user_id, organization_slug=query.organization)
