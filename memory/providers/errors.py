"""What can go wrong at a model vendor, as one tree.

    accounts.errors.Unavailable    503
    └── ProviderError              base: nothing was stored, the caller may go on degraded
        ├── ProviderUnavailable    not reachable, answered 5xx, weights absent, circuit open
        │   └── ProviderTimeout    our own total deadline passed
        ├── ProviderRateLimited    429; carries retry_after_seconds
        ├── ProviderRefused        4xx: key, model name or input not accepted; a retry cannot help
        ├── ProviderInvalidAnswer  an answer came, but its shape or figures are wrong
        └── ProviderBudgetSpent    the organization's model budget forbids the call

An action that has another way catches ProviderError and says that it is degraded; one that has
none turns it into `memory.errors.EmbedderUnavailable` or `ModelUnavailable`.
"""

from typing import ClassVar

from accounts.errors import Unavailable


class ProviderError(Unavailable):
    """A model call gave no usable answer; `detail` says why and `hint` what to do."""

    code = "provider_error"
    title = "The model provider failed"
    is_transient: ClassVar[bool] = False
    default_hint: ClassVar[str] = "Try again later, or choose another model in the settings."

    def __init__(self, *, detail: str, provider: str = "", hint: str = "") -> None:
        """Keep the sentence for people, the vendor's name and the way out."""
        super().__init__(detail=detail, hint=hint or self.default_hint)
        self.provider = provider


class ProviderUnavailable(ProviderError):
    """The vendor cannot be reached or has no answer now."""

    code = "provider_unavailable"
    title = "The model provider is not available"
    is_transient = True


class ProviderTimeout(ProviderUnavailable):
    """The total deadline passed before the whole answer was there."""

    code = "provider_timeout"
    title = "The model provider took too long"


class ProviderRateLimited(ProviderError):
    """The vendor asked us to slow down."""

    code = "provider_rate_limited"
    title = "The model provider limits our rate"
    is_transient = True

    def __init__(
        self, *, detail: str, retry_after_seconds: float, provider: str = "", hint: str = ""
    ) -> None:
        """Keep how many seconds the vendor wants us to wait (0 = it did not say)."""
        super().__init__(detail=detail, provider=provider, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class ProviderRefused(ProviderError):
    """The vendor rejects the request itself, so that a retry cannot help."""

    code = "provider_refused"
    title = "The model provider refused the request"
    default_hint = "Check the key, the model name and the base address in the settings."


class ProviderInvalidAnswer(ProviderError):
    """The vendor answered with something that must not be stored or ranked by."""

    code = "provider_invalid_answer"
    title = "The model provider gave an invalid answer"
    is_transient = True
    default_hint = "Check that the configured model and its dimensions are the ones served."


class ProviderBudgetSpent(ProviderError):
    """The organization's budget for model calls is used up."""

    code = "provider_budget_spent"
    title = "The budget for model calls is used up"
    default_hint = "Raise the limit of the plan, or wait for the next period."
