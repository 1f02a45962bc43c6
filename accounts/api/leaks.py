"""Tokens found in the open: how scanners know them, and where anybody reports them.

Both calls need no credential. A report is answered alike whether its tokens are real or not.
"""

from typing import Any, Final

from accounts import tokens
from accounts.actions import tokens as leaks
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Record, Several, Text

MOST: Final = 50  # texts a report
LONGEST: Final = 4_096  # characters of a text; what a scanner shows around a finding
LEAK: Final = Record(
    name="LeakReport",
    fields=(
        Field(
            name="tokens",
            shape=Several(of=Text(largest=LONGEST, smallest=1), largest=MOST, smallest=1),
            says="The tokens, or texts in which they stand.",
            required=True,
        ),
    ),
)
PATTERN: Final[dict[str, Any]] = {
    "name": "Cairn API token",
    "pattern": tokens.PUBLISHED_PATTERN,
    "prefixes": [f"crn_{kind}_" for kind in tokens.TokenKind],
    "length": tokens.LENGTH,
    "checksum": (
        "The last 6 characters are the CRC-32 of all characters before them, written in base 62 "
        "with the digits 0-9A-Za-z, most significant first, padded with 0."
    ),
    "report": "/api/v1/tokens/leaked",
}


def report(ask: Ask) -> Answer:
    """End the tokens of a report that are real, and say only that it was received."""
    texts = ask.body["tokens"]
    for text in texts:
        leaks.end_leaked(text=text, now=ask.now)
    return Answer(status=202, body={"received": len(texts)})


def pattern(ask: Ask) -> Answer:
    """Say how a token looks."""
    del ask
    return Answer(body=PATTERN)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="tokens/leaked",
        name="report_leak",
        tag="tokens",
        summary="Report tokens found in the open",
        says=(
            "Needs no credential. Tokens that are real are revoked at once and their owners told; "
            "the answer is the same for those that are not."
        ),
        scope=None,
        public=True,
        run=report,
        body=LEAK,
        example={"tokens": ["crn_pat_…"]},
        replies=(
            Reply(status=202, says="Received.", schema="LeakReceipt", example={"received": 1}),
        ),
    ),
    Endpoint(
        method="GET",
        path="tokens/pattern",
        name="token_pattern",
        tag="tokens",
        summary="How a token looks, for scanners",
        says="Needs no credential.",
        scope=None,
        public=True,
        run=pattern,
        replies=(Reply(status=200, says="The pattern.", schema="TokenPattern", example=PATTERN),),
    ),
)
