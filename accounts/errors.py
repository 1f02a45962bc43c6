"""Everything Cairn refuses, and what every app's own errors extend.

An error says what happened (`detail`), what to do (`hint`) and, for input, where (`errors`). The
edge turns it into problem+json without knowing its class (RFC 9457). `code` is stable;
sentences may change.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from accounts.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One fault of the input: a JSON pointer (RFC 6901), a sentence, a stable code."""

    pointer: str
    detail: str
    code: str


class CairnError(Exception):
    """A refusal with a stable code, a sentence for people and a hint what to do."""

    code: str = "internal"
    status: ClassVar[int] = 500
    title: str = "Something went wrong"

    def __init_subclass__(cls, *, code: str = "", status: int = 0, title: str = "") -> None:
        """Declare a kind of refusal; what is not named is as in the kind above it."""
        super().__init_subclass__()
        cls.code, cls.status, cls.title = code or cls.code, status or cls.status, title or cls.title

    def __init__(self, *, detail: str, hint: str = "", errors: tuple[FieldError, ...] = ()) -> None:
        """Keep the sentence, the hint and the field errors."""
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.errors = errors


class InvalidInput(CairnError, code="invalid_input", status=422, title="Invalid input"):
    """The request is understood and wrong."""


def wrong_field(
    *,
    pointer: str,
    detail: str,
    hint: str = "Correct the field and send it again.",
    code: str = "invalid",
) -> InvalidInput:
    """Return the refusal of one field, whose sentence says it all."""
    fault = FieldError(pointer=pointer, detail=detail, code=code)
    return InvalidInput(detail=detail, hint=hint, errors=(fault,))


class Unauthenticated(CairnError, code="unauthenticated", status=401, title="Not signed in"):
    """There is no credential, or not a good one."""


class InvalidToken(Unauthenticated, code="invalid_token", title="Invalid token"):
    """The token is malformed, unknown, expired or revoked, or its owner has left."""


class QuotaExceeded(CairnError, code="quota_exceeded", status=402, title="Plan limit reached"):
    """The plan's limit is reached."""


class Forbidden(CairnError, code="forbidden", status=403, title="Not allowed"):
    """The caller is known and not allowed."""


class RoleNotSufficient(
    Forbidden, code="role_not_sufficient", title="Your role does not allow this"
):
    """The caller's role may not do this."""


class NotFound(CairnError, code="not_found", status=404, title="Not found"):
    """The thing is not there, or not for this caller."""


class Conflict(CairnError, code="conflict", status=409, title="Conflict"):
    """The request contradicts the present state."""


class LastOwner(Conflict, code="last_owner", title="The last owner stays"):
    """An organization keeps at least one owner."""


class AddressTaken(Conflict, code="address_taken", title="The address is taken"):
    """Another organization has the address, the part after /o/."""


class PreconditionFailed(
    CairnError, code="precondition_failed", status=412, title="Changed meanwhile"
):
    """The version named by the caller is no longer the newest."""


class TooLarge(CairnError, code="too_large", status=413, title="Too large"):
    """The request carries more than one may."""


class PreconditionRequired(
    CairnError, code="precondition_required", status=428, title="Version required"
):
    """An edit must name the version that it edits."""


class RateLimited(CairnError, code="rate_limited", status=429, title="Too many requests"):
    """The caller is too fast."""

    def __init__(self, *, detail: str, retry_after_seconds: int, hint: str = "") -> None:
        """Keep how long to wait, in whole seconds."""
        super().__init__(
            detail=detail,
            hint=hint or message("Try again in {seconds} s.", seconds=retry_after_seconds),
        )
        self.retry_after_seconds = retry_after_seconds


class Unavailable(CairnError, code="unavailable", status=503, title="Temporarily unavailable"):
    """Something that the answer needs is down."""


GRANT_REFUSALS: Final = {  # RFC 8628, 3.5: code, title
    "authorization_pending": "Not decided yet",
    "slow_down": "Asked too often",
    "access_denied": "Refused",
    "expired_token": "Code expired",
}


class GrantRefused(
    CairnError, code="access_denied", status=400, title=GRANT_REFUSALS["access_denied"]
):
    """A program that signs in without a browser has no token yet, or will have none."""

    def __init__(self, *, code: str, detail: str, hint: str) -> None:
        """Keep which of the refusals it is."""
        super().__init__(detail=detail, hint=hint)
        self.code, self.title = code, GRANT_REFUSALS[code]
