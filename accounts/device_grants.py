"""What a program without a browser asked for, until a person has decided (RFC 8628).

It lies in the cache for ten minutes and in no table: it is asked before any organization is known,
so a row would stand outside of row-level security, and what is lost with the cache is asked again.
Each part (the request, the decision) is written once and never changed, so of two that decide or
fetch at once one comes first, in whatever process. Keys are keyed digests of the codes; neither a
code nor a token is kept.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from redis.exceptions import RedisError

from accounts import peppers
from accounts.caller import TokenScope
from accounts.errors import Conflict, NotFound, Unavailable

LIVES_SECONDS: Final = 600  # ours: time to find the browser and the second factor
INTERVAL_SECONDS: Final = 5  # RFC 8628, 3.2: between two questions of the program
SLACK_SECONDS: Final = 1  # a question may come this much early, the network's part
DEVICE_CODE_BYTES: Final = 32
ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628, 6.1: no vowels, so no words
USER_CODE_LETTERS: Final = 8  # 20 ** 8: 34 bits, for ten minutes and few tries


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
    """What a person decided; nobody's name where it was refused."""

    approved: bool
    user_id: UUID | None = None
    organization: str = ""
    scopes: tuple[TokenScope, ...] = ()
    projects: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """The two codes of a grant: the program's own, and the one that a person types."""

    device_code: str
    user_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant that was found: its key, and what was asked."""

    key: str
    asked: Asked


def begin(*, asked: Asked) -> Codes:
    """Keep what was asked, under two new codes."""
    device_code = secrets.token_urlsafe(DEVICE_CODE_BYTES)
    key = peppers.digest(text=device_code)
    letters = _new_letters()
    while not _once("typed", _typed(letters), key):
        letters = _new_letters()
    _once("asked", key, asked)
    return Codes(device_code=device_code, user_code=user_code(text=letters))


def of_person(*, typed: str) -> Grant | None:
    """Return the grant that a person's code names, however it was typed."""
    key = _kept("typed", _typed(_letters(typed)))
    return None if key is None else _grant(str(key))


def of_program(*, device_code: str) -> Grant | None:
    """Return the grant that a program's code names."""
    return _grant(peppers.digest(text=device_code))


def user_code(*, text: str) -> str:
    """Return a code as it is shown, however it was typed."""
    letters, half = _letters(text), USER_CODE_LETTERS // 2
    return f"{letters[:half]}-{letters[half:]}"


def decide(*, key: str, decision: Decision) -> bool:
    """Keep a decision; False where there is one already."""
    return _once("decided", key, decision)


def decision_of(*, key: str) -> Decision | None:
    """Return what was decided, None where nothing was."""
    found = _kept("decided", key)
    return found if isinstance(found, Decision) else None


def is_too_soon(*, key: str) -> bool:
    """Say whether the program has asked within the interval before."""
    return not _once("polled", key, True, seconds=INTERVAL_SECONDS - SLACK_SECONDS)


def _grant(key: str) -> Grant | None:
    asked = _kept("asked", key)
    return Grant(key=key, asked=asked) if isinstance(asked, Asked) else None


def _letters(typed: str) -> str:
    """Return the letters of a code, without what people put between them."""
    return "".join(letter for letter in typed.upper() if letter in ALPHABET)[:USER_CODE_LETTERS]


def _new_letters() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(USER_CODE_LETTERS))


def _typed(letters: str) -> str:
    return peppers.digest(text=f"device {letters}")


def _once(part: str, key: str, value: object, *, seconds: int = LIVES_SECONDS) -> bool:
    """Keep a value unless there is one; the key stands beside it, as in `tenancy.cached`."""
    with _reached():
        return bool(cache.add(f"device:{part}:{key}", (key, value), seconds))


def _kept(part: str, key: str) -> Any:
    with _reached():
        entry = cache.get(f"device:{part}:{key}")
    return entry[1] if isinstance(entry, tuple) and entry[0] == key else None


@contextmanager
def _reached() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(
            detail="Programs cannot be signed in right now.",
            hint="The store that keeps their codes is away. Try again in a few seconds.",
        ) from error


def waiting(*, user_code: str) -> Grant:
    """Return what a program asks for. Raises NotFound, and Conflict where it was decided."""
    grant = of_person(typed=user_code)
    if grant is None:
        raise NotFound(
            detail="There is no such code, or it has expired.",
            hint="A code lives ten minutes. Begin again in the terminal, and type what it shows.",
        )
    if decision_of(key=grant.key) is not None:
        raise decided()
    return grant


def decided() -> Conflict:
    """Return the refusal of a code about which somebody has decided."""
    return Conflict(
        detail="This code was used already.", hint="Begin again in the terminal for a new one."
    )
