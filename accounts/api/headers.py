"""What headers say about who calls: the token, the software, the address."""

from collections.abc import Mapping
from typing import Final

from accounts import free_texts
from accounts.errors import InvalidToken

AGENT: Final = "X-Cairn-Agent"
HOOK: Final = "X-Cairn-Hook"
HOOKS: Final = "/api/v1/hooks/"  # whom the hook script calls
OWN_PROGRAMS: Final = f"{HOOKS}generic"  # whom programs of anybody's call without our script
FIRST_HOOK: Final = 1  # the script that did not tell its version yet
HOOK_DIGITS: Final = 4
SCHEMES: Final = frozenset({"bearer", "token"})


def token_of(*, headers: Mapping[str, str]) -> str | None:
    """Return the token that a request carries, None when it carries none.

    `headers` finds names in any case. Raises InvalidToken for a scheme that is not ours.
    """
    authorization = headers.get("Authorization", "").strip()
    if not authorization:
        return headers.get("X-API-Key", "").strip() or None
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() not in SCHEMES:
        raise InvalidToken(
            detail="This kind of Authorization is not taken.",
            hint="Send Authorization: Bearer crn_…",
        )
    return text.strip()


def agent_of(*, headers: Mapping[str, str]) -> str:
    """Return the name the software gives itself; empty lets the token's name stand in.

    It stands beside every act, so it holds no secret.
    """
    return free_texts.masked(text=headers.get(AGENT, ""))


def hook_of(*, headers: Mapping[str, str], path: str) -> int | None:
    """Return the version of the hook script that calls, None for a call that is no script's."""
    said = headers.get(HOOK, "").strip()
    if path.startswith(HOOKS) and said.isascii() and said.isdecimal() and len(said) <= HOOK_DIGITS:
        return int(said)
    is_of_script = path.startswith(HOOKS) and not path.startswith(OWN_PROGRAMS)
    return FIRST_HOOK if is_of_script else None


def address_of(*, headers: Mapping[str, str], peer: str, trusted_proxies: int) -> str:
    """Return the caller's IP address; forwarded ones count only from trusted proxies."""
    forwarded = headers.get("X-Forwarded-For", "").split(",")
    if trusted_proxies and len(forwarded) >= trusted_proxies:
        return forwarded[-trusted_proxies].strip()
    return peer
