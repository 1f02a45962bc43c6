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

    def __init__(self, *, detail: str, hint: str = "", errors: tuple[FieldError, ...] = ()) -> None:
        """Keep the sentence, the hint and the field errors."""
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.errors = errors


class InvalidInput(CairnError):
    """The request is understood and wrong."""

    code = "invalid_input"
    status = 422
    title = "Invalid input"


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


class Unauthenticated(CairnError):
    """There is no credential, or not a good one."""

    code = "unauthenticated"
    status = 401
    title = "Not signed in"


class InvalidToken(Unauthenticated):
    """The token is malformed, unknown, expired or revoked, or its owner has left."""

    code = "invalid_token"
    title = "Invalid token"


class QuotaExceeded(CairnError):
    """The plan's limit is reached."""

    code = "quota_exceeded"
    status = 402
    title = "Plan limit reached"


class Forbidden(CairnError):
    """The caller is known and not allowed."""

    code = "forbidden"
    status = 403
    title = "Not allowed"


class RoleNotSufficient(Forbidden):
    """The caller's role may not do this."""

    code = "role_not_sufficient"
    title = "Your role does not allow this"


class NotFound(CairnError):
    """The thing is not there, or not for this caller."""

    code = "not_found"
    status = 404
    title = "Not found"


class Conflict(CairnError):
    """The request contradicts the present state."""

    code = "conflict"
    status = 409
    title = "Conflict"


class LastOwner(Conflict):
    """An organization keeps at least one owner."""

    code = "last_owner"
    title = "The last owner stays"


class AddressTaken(Conflict):
    """Another organization has the address, the part after /o/."""

    code = "address_taken"
    title = "The address is taken"


class PreconditionFailed(CairnError):
    """The version named by the caller is no longer the newest."""

    code = "precondition_failed"
    status = 412
    title = "Changed meanwhile"


class TooLarge(CairnError):
    """The request carries more than one may."""

    code = "too_large"
    status = 413
    title = "Too large"


class PreconditionRequired(CairnError):
    """An edit must name the version that it edits."""

    code = "precondition_required"
    status = 428
    title = "Version required"


class RateLimited(CairnError):
    """The caller is too fast."""

    code = "rate_limited"
    status = 429
    title = "Too many requests"

    def __init__(self, *, detail: str, retry_after_seconds: int, hint: str = "") -> None:
        """Keep how long to wait, in whole seconds."""
        super().__init__(
            detail=detail,
            hint=hint or message("Try again in {seconds} s.", seconds=retry_after_seconds),
        )
        self.retry_after_seconds = retry_after_seconds


class Unavailable(CairnError):
    """Something that the answer needs is down."""

    code = "unavailable"
    status = 503
    title = "Temporarily unavailable"


GRANT_REFUSALS: Final = {  # RFC 8628, 3.5: code, title
    "authorization_pending": "Not decided yet",
    "slow_down": "Asked too often",
    "access_denied": "Refused",
    "expired_token": "Code expired",
}


class GrantRefused(CairnError):
    """A program that signs in without a browser has no token yet, or will have none."""

    code = "access_denied"
    status = 400
    title = GRANT_REFUSALS[code]

    def __init__(self, *, code: str, detail: str, hint: str) -> None:
        """Keep which of the refusals it is."""
        super().__init__(detail=detail, hint=hint)
        self.code, self.title = code, GRANT_REFUSALS[code]
