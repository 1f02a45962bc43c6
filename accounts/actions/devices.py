"""Sign a program in that has no browser: it asks, a person decides, it fetches a token (RFC 8628).

The token is made when the program fetches it, with the rights that the person has then: nothing
that could be used rests anywhere before, and who has left meanwhile has lent nothing.

What was asked and decided lies in the cache for ten minutes and in no table: it is asked before any
organization is known, so a row would stand outside of row-level security, and what is lost with the
cache is asked again. Each part (the request, the decision) is written once and never changed, so of
two that decide or fetch at once one comes first, in whatever process. Keys are keyed digests of the
codes; neither a code nor a token is kept.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import IntegrityError

from accounts import audit, free_texts, live, peppers, queries, tenancy
from accounts.actions import tokens
from accounts.actions.tokens import NAME_LENGTH, IssuedToken, NewToken
from accounts.caller import Caller, TokenScope, check_holds_tokens, check_lends
from accounts.errors import Conflict, Forbidden, GrantRefused, InvalidInput, NotFound
from accounts.identifiers import checked_name, new_id
from accounts.messages import message

LIVES_SECONDS: Final = 600  # time to find the browser and the second factor; a default
INTERVAL_SECONDS: Final = 5  # RFC 8628, 3.2: between two questions of the program
SLACK_SECONDS: Final = 1  # a question may come this much early, the network's part
DEVICE_CODE_BYTES: Final = 32
ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628, 6.1: no vowels, so no words
USER_CODE_LETTERS: Final = 8  # 20 ** 8: 34 bits, for ten minutes and few tries
AGAIN: Final = "Begin again: cairn login."
_pending: Final = partial(
    GrantRefused,
    code="authorization_pending",
    detail="The request has not been approved yet.",
    hint="Try again after the interval, until the code expires.",
)
_too_soon: Final = partial(
    GrantRefused,
    code="slow_down",
    detail="This was requested again too soon.",
    hint=message("Wait {seconds} s longer each time.", seconds=INTERVAL_SECONDS),
)
_denied: Final = partial(
    GrantRefused,
    code="access_denied",
    detail="The request was denied or is not allowed.",
    hint=AGAIN,
)
_expired: Final = partial(
    GrantRefused,
    code="expired_token",
    detail="This code is unknown, expired or was used.",
    hint=AGAIN,
)
_reached: Final = partial(
    live.needs_redis,
    detail="Programs cannot be signed in right now.",
    hint="The store for sign-in codes is unavailable. Try again in a few seconds.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a program asks for: how it calls itself, from where, and what it would do."""

    id: UUID
    client: str
    address: str
    scopes: tuple[TokenScope, ...]
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Who lends a program a token of which organization; nobody where it was refused."""

    user_id: UUID | None = None
    organization: str = ""
    new: NewToken | None = None


def ask(
    *, client: str, address: str, scopes: tuple[TokenScope, ...], now: datetime
) -> tuple[str, str]:
    """Begin: keep what a program asks for; return its own code, and the one that a person types.

    Raises InvalidInput for a name that cannot be shown.
    """
    name = checked_name(client, pointer="/client", most=NAME_LENGTH)
    free_texts.check(texts={"/client": name})
    device_code = secrets.token_urlsafe(DEVICE_CODE_BYTES)
    key, letters = peppers.digest(text=device_code), ""
    while not letters or not _keep_once("typed", _typed_key(letters), key):
        letters = "".join(secrets.choice(ALPHABET) for _ in range(USER_CODE_LETTERS))
    asked = Asked(id=new_id(), client=name, address=address, scopes=scopes, asked_at=now)
    _keep_once("asked", key, asked)
    return device_code, user_code(text=letters)


def user_code(*, text: str) -> str:
    """Return a code as it is shown, however it was typed."""
    letters = "".join(letter for letter in text.upper() if letter in ALPHABET)
    half = USER_CODE_LETTERS // 2
    return f"{letters[:half]}-{letters[half:USER_CODE_LETTERS]}"


def waiting(*, user_code: str) -> Asked:
    """Return what a program asks for. Raises NotFound, and Conflict where it was decided."""
    return _waiting(user_code)[1]


def approve(
    *,
    caller: Caller,
    user_code: str,
    scopes: frozenset[TokenScope],
    projects: tuple[UUID, ...] | None,
) -> Asked:
    """Let a program have a token of the caller's. Raises NotFound, Conflict, InvalidInput.

    `projects` None: every project that the person reaches.
    """
    user_id = check_holds_tokens(caller=caller)
    check_lends(caller=caller, scopes=scopes, projects=projects)
    key, asked = _waiting(user_code)
    new = NewToken(id=asked.id, name=asked.client, scopes=scopes, projects=projects)
    with audit.unit_of(caller):
        details = {"of": str(user_id), "scopes": sorted(scopes)}
        audit.append("token.approved", "token", str(asked.id), caller=caller, details=details)
        slug = caller.organization_slug
        _decide(key, Decision(user_id=user_id, organization=slug, new=new))
    return asked


def refuse(*, user_code: str) -> Asked:
    """Refuse a program. Raises NotFound, Conflict."""
    key, asked = _waiting(user_code)
    _decide(key, Decision())
    return asked


def fetch(*, device_code: str, now: datetime) -> tuple[IssuedToken, str]:
    """Hand a program its token and the slug of its organization.

    As long as the token was not used it is handed out again, with a new text: the row of the token
    is what says that it was fetched, so a fault on the way loses none. Raises GrantRefused.
    """
    key = peppers.digest(text=device_code)
    if not isinstance(_read("asked", key), Asked):
        raise _expired()
    decision = _read("decided", key)
    if not isinstance(decision, Decision):
        if not _keep_once("polled", key, True, seconds=INTERVAL_SECONDS - SLACK_SECONDS):
            raise _too_soon()
        raise _pending()
    if decision.user_id is None or decision.new is None:
        raise _denied()
    try:
        caller = queries.person(user_id=decision.user_id, slug=decision.organization)
        with tenancy.enter(caller.tenant):
            again = tokens.create_again(caller=caller, new=decision.new, now=now)
            issued = again or tokens.create_token(caller=caller, new=decision.new, now=now)
    except (NotFound, Forbidden, InvalidInput) as error:  # the person has less than before
        raise _denied() from error
    except Conflict as error:
        raise _expired() from error
    except IntegrityError as error:  # another fetch of the same code was first, just now
        raise _too_soon() from error
    return issued, caller.organization_slug


def _waiting(typed: str) -> tuple[str, Asked]:
    """Return the key of a program's request that nobody has decided about, and the request."""
    key = _read("typed", _typed_key(user_code(text=typed).replace("-", "")))
    asked = None if key is None else _read("asked", str(key))
    if not isinstance(asked, Asked):
        raise NotFound(
            detail="There is no such code, or it has expired.",
            hint="A code lives ten minutes. Begin again in the terminal, and type what it shows.",
        )
    if _read("decided", str(key)) is not None:
        raise _used()
    return str(key), asked


def _decide(key: str, decision: Decision) -> None:
    if not _keep_once("decided", key, decision):
        raise _used()


def _typed_key(letters: str) -> str:
    return peppers.digest(text=f"device {letters}")


def _keep_once(part: str, key: str, value: object, *, seconds: int = LIVES_SECONDS) -> bool:
    """Keep a value unless there is one; the key stands beside it, as in `tenancy.cached`."""
    with _reached():
        return bool(cache.add(f"device:{part}:{key}", (key, value), seconds))


def _read(part: str, key: str) -> Any:
    with _reached():
        entry = cache.get(f"device:{part}:{key}")
    return entry[1] if isinstance(entry, tuple) and entry[0] == key else None


def _used() -> Conflict:
    return Conflict(
        detail="This code was used already.", hint="Begin again in the terminal for a new one."
    )
