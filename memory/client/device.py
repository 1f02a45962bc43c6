"""Sign in with a code that a person types in a browser, wherever that is (RFC 8628).

The program shows the code and asks at the server's pace until somebody has decided; while the
server does not answer it asks more rarely (RFC 8628, 3.5). What it is given is a token like any
other; it lies in the same file, for its owner alone.
"""

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .errors import ClientError, Problem, Unreachable

SLOWER_SECONDS: Final = 5  # RFC 8628, 3.5: what slow_down adds to the interval
NAME_MOST: Final = 80  # characters, the server's
PENDING: Final = "authorization_pending"
SLOW_DOWN: Final = "slow_down"


class Authority(Protocol):
    """What of the client a sign-in needs."""

    def ask_code(self, *, name: str) -> Mapping[str, Any]:
        """Ask for the two codes."""

    def fetch_token(self, *, device_code: str) -> Mapping[str, Any]:
        """Fetch the token. Raises Problem until somebody has approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a person is shown: where to go, and the code."""

    address: str
    code: str
    direct: str


def sign_in(
    *,
    authority: Authority,
    show: Callable[[Shown], None],
    pause: Callable[[float], None] = time.sleep,
) -> str:
    """Return a token, once somebody has approved.

    Raises Problem for a refusal, ClientError when nobody has decided in time, Unreachable when the
    server is away so long.
    """
    told = authority.ask_code(name=own_name())
    show(
        Shown(
            address=str(told["verification_uri"]),
            code=str(told["user_code"]),
            direct=str(told.get("verification_uri_complete") or told["verification_uri"]),
        )
    )
    interval, waited = float(told.get("interval") or SLOWER_SECONDS), 0.0
    lasts = float(told["expires_in"])
    while waited < lasts:
        pause(interval)
        waited += interval
        try:
            fetched = authority.fetch_token(device_code=str(told["device_code"]))
        except Problem as problem:
            if problem.code not in {PENDING, SLOW_DOWN}:
                raise
            interval += SLOWER_SECONDS if problem.code == SLOW_DOWN else 0
        except Unreachable as away:
            interval *= 2
            if waited + interval >= lasts:
                raise away
        else:
            return str(fetched["access_token"])
    raise ClientError(
        detail="Nobody approved the code in time.", hint="Begin again.", command="cairn login"
    )


def own_name() -> str:
    """Return how this program calls itself: by the machine that it runs on."""
    name = f"cairn on {platform.node() or 'a machine'}"
    return "".join(letter for letter in name if letter.isprintable())[:NAME_MOST]
