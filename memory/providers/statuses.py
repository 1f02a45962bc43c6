"""From an HTTP status to one of our errors; the same for every remote vendor.

In the flow: `openai_compatible` and `cohere_api` translate at their rim. A vendor's own sentence
is left out, since it may quote the input or the key; its short code is kept.
"""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from accounts.messages import message
from memory.providers.errors import (
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)

PLAIN_CODE = re.compile(r"[a-z_]{1,40}")
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
PASSING = frozenset({408, 409, 425})  # timeout, conflict, too early: a retry may help


def error_of(
    *, provider: str, status: int, headers: Mapping[str, str], code: str = ""
) -> ProviderError:
    """Return the error for a status of 400 or more."""
    plain = f" ({code})" if PLAIN_CODE.fullmatch(code) else ""
    said = message(
        "{provider} answered with status {status}.", provider=provider, status=f"{status}{plain}"
    )
    if code in QUOTA_CODES or status == 402:
        return ProviderRefused(
            detail=said, provider=provider, hint="The account has no credit left; add some there."
        )
    if status == 429:
        wait = retry_after_seconds(headers=headers)
        return ProviderRateLimited(detail=said, provider=provider, retry_after_seconds=wait)
    if status >= 500 or status in PASSING:
        return ProviderUnavailable(detail=said, provider=provider)
    return ProviderRefused(detail=said, provider=provider)


def retry_after_seconds(*, headers: Mapping[str, str]) -> float:
    """Return what Retry-After asks for (RFC 9110, 10.2.3); 0 where it says nothing readable.

    A moment is counted from the answer's own Date, so that no clock of ours is compared.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    asked = lower.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit() and len(asked) < 10:
        return float(asked)
    try:
        moment = parsedate_to_datetime(asked)
        return max(0.0, (moment - parsedate_to_datetime(lower["date"])).total_seconds())
    except (KeyError, ValueError, TypeError):  # absent or unreadable: our own waits apply
        return 0.0
