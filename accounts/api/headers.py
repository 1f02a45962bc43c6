"""What headers say about who calls: the token, the software, the address (spec 8.1)."""

from collections.abc import Mapping
from typing import Final

from accounts.backend import free_texts
from accounts.errors import InvalidToken

AGENT: Final = "X-Cairn-Agent"
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
    return free_texts.shown(text=headers.get(AGENT, ""))


def address_of(*, headers: Mapping[str, str], peer: str, trusted_proxies: int) -> str:
    """Return the caller's IP address; forwarded ones count only from trusted proxies."""
    forwarded = headers.get("X-Forwarded-For", "").split(",")
    if trusted_proxies and len(forwarded) >= trusted_proxies:
        return forwarded[-trusted_proxies].strip()
    return peer
