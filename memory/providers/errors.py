"""What can go wrong at a model vendor, as one tree, and the error of an HTTP status.

    accounts.errors.Unavailable    503
    └── ProviderError              base: nothing was stored, the caller may go on degraded
        ├── ProviderUnavailable    not reachable, answered 5xx, weights absent
        │   ├── CircuitOpen        left alone after failures in a row; nothing was sent
        │   └── ProviderTimeout    our own total deadline passed
        ├── ProviderRateLimited    429; carries retry_after_seconds
        ├── ProviderRefused        4xx: key, model name or input not accepted; a retry cannot help
        └── ProviderInvalidAnswer  an answer came, but its shape or figures are wrong

An action that has another way catches ProviderError and says that it is degraded; one that has
none turns it into `memory.errors.EmbedderUnavailable` or `ModelUnavailable`.
"""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import ClassVar, Final

from accounts.errors import Unavailable
from accounts.messages import message

PLAIN_CODE: Final = re.compile(r"[a-z_]{1,40}")
QUOTA_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
RETRYABLE_STATUSES: Final = frozenset({408, 409, 425})  # timeout, conflict, too early


class ProviderError(Unavailable, code="provider_error", title="The model provider failed"):
    """A model call gave no usable answer; `detail` says why and `hint` what to do.

    `calls`, `input_tokens` and `output_tokens` are what the tries of a chat model cost all the
    same: vendors bill what they refuse, cut off or write in a wrong shape.
    """

    is_transient: ClassVar[bool] = False
    default_hint: ClassVar[str] = "Try again later, or choose another model in the settings."

    def __init__(self, *, detail: str, provider: str = "", hint: str = "") -> None:
        """Keep the message for people, the vendor's name and the way out."""
        super().__init__(detail=detail, hint=hint or self.default_hint)
        self.provider = provider
        self.calls = self.input_tokens = self.output_tokens = 0


class ProviderUnavailable(
    ProviderError, code="provider_unavailable", title="The model provider is not available"
):
    """The vendor cannot be reached or has no answer now."""

    is_transient = True


class CircuitOpen(ProviderUnavailable, code="provider_circuit_open"):
    """The circuit of this tenant and provider is open: nothing was sent."""

    is_transient = False


class ProviderTimeout(
    ProviderUnavailable, code="provider_timeout", title="The model provider took too long"
):
    """The total deadline passed before the whole answer was there."""


class ProviderRateLimited(
    ProviderError, code="provider_rate_limited", title="The model provider limits our rate"
):
    """The vendor asked us to slow down."""

    is_transient = True

    def __init__(
        self, *, detail: str, retry_after_seconds: float, provider: str = "", hint: str = ""
    ) -> None:
        """Keep how many seconds the vendor wants us to wait (0 = it did not say)."""
        super().__init__(detail=detail, provider=provider, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class ProviderRefused(
    ProviderError, code="provider_refused", title="The model provider refused the request"
):
    """The vendor rejects the request itself, so that a retry cannot help."""

    default_hint = "Check the key, the model name and the base address in the settings."


class ProviderInvalidAnswer(
    ProviderError, code="provider_invalid_answer", title="The model provider gave an invalid answer"
):
    """The vendor answered with something that must not be stored or ranked by."""

    is_transient = True
    default_hint = "Check that the configured model and its dimensions are the ones served."


def error_of_status(
    *, provider: str, status: int, headers: Mapping[str, str], code: str = ""
) -> ProviderError:
    """Return the error for an HTTP status of 400 or more.

    A vendor's own message is left out, since it may quote the input or the key; its short code is
    kept.
    """
    plain = f" ({code})" if PLAIN_CODE.fullmatch(code) else ""
    detail = message(
        "{provider} answered with status {status}.", provider=provider, status=f"{status}{plain}"
    )
    if code in QUOTA_CODES or status == 402:
        return ProviderRefused(
            detail=detail, provider=provider, hint="The account has no credit left; add some there."
        )
    if status == 429:
        seconds = retry_after_seconds(headers=headers)
        return ProviderRateLimited(detail=detail, provider=provider, retry_after_seconds=seconds)
    if status >= 500 or status in RETRYABLE_STATUSES:
        return ProviderUnavailable(detail=detail, provider=provider)
    return ProviderRefused(detail=detail, provider=provider)


def retry_after_seconds(*, headers: Mapping[str, str]) -> float:
    """Return what Retry-After asks for (RFC 9110, 10.2.3); 0 where it says nothing readable.

    A date is counted from the answer's own Date, so that no clock of ours is compared.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    asked = lower.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit() and len(asked) < 10:
        return float(asked)
    try:
        until = parsedate_to_datetime(asked)
        return max(0.0, (until - parsedate_to_datetime(lower["date"])).total_seconds())
    except (KeyError, ValueError, TypeError):  # absent or unreadable: our own waits apply
        return 0.0
