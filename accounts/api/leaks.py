"""Tokens found in the open: how scanners know them, and where anybody reports them.

Both calls need no credential. A report is answered alike whether its tokens are real or not.
"""

from typing import Annotated, Any, Final

from pydantic import Field

from accounts import token_format
from accounts.actions.tokens import end_leaked
from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Name, Result, Several
from accounts.token_format import TokenKind

MOST: Final = 50  # texts a report
LONGEST: Final = 4_096  # characters of a text; what a scanner shows around a finding


class LeakReport(Body):
    """Tokens that somebody found."""

    tokens: Several[Annotated[Name, Field(max_length=LONGEST)]] = Field(
        min_length=1,
        max_length=MOST,
        description="The tokens, or texts in which they stand.",
        examples=[["crn_pat_…"]],
    )


class LeakReceipt(Result):
    """Received."""

    received: int


class TokenPattern(Result):
    """The pattern."""

    name: str
    pattern: str
    prefixes: tuple[str, ...]
    length: int
    checksum: str
    report: str


@post(
    "tokens/leaked",
    tag="tokens",
    scope=None,
    public=True,
    answer=LeakReceipt,
    status=202,
    idempotent=False,
)
def report_leak(call: Call, body: LeakReport) -> dict[str, Any]:
    """Report tokens found in the open.

    Needs no credential. Tokens that are real are revoked at once and their owners told; the answer
    is the same for those that are not.
    """
    for text in body.tokens:
        end_leaked(text=text, now=call.now)
    return {"received": len(body.tokens)}


@get("tokens/pattern", tag="tokens", scope=None, public=True, answer=TokenPattern)
def token_pattern(call: Call) -> dict[str, Any]:
    """How a token looks, for scanners.

    Needs no credential.
    """
    del call
    return {
        "name": "Cairn API token",
        "pattern": token_format.PUBLISHED_PATTERN,
        "prefixes": tuple(f"crn_{kind}_" for kind in TokenKind),
        "length": token_format.LENGTH,
        "checksum": (
            "The last 6 characters are the CRC-32 of all characters before them, written in base "
            "62 with the digits 0-9A-Za-z, most significant first, padded with 0."
        ),
        "report": "/api/v1/tokens/leaked",
    }
