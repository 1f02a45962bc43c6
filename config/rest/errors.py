"""What the REST shell itself refuses, before any action is asked (spec 8.1, 10.5).

CairnError
├── MalformedRequest        400  not readable as what it says it is
├── UnsupportedMedia        415  a body in a format this call does not take
├── InvalidInput
│   └── IdempotencyMismatch 422  the key was used for another request
└── Conflict
    └── StillRunning        409  the first request with this key has not ended
"""

from accounts.errors import CairnError, Conflict, InvalidInput


class MalformedRequest(CairnError):
    """The request cannot be read."""

    code = "malformed_request"
    status = 400
    title = "Malformed request"


class UnsupportedMedia(CairnError):
    """The body's format is not taken here."""

    code = "unsupported_media_type"
    status = 415
    title = "Unsupported media type"


class IdempotencyMismatch(InvalidInput):
    """The key belongs to another request."""

    code = "idempotency_mismatch"
    title = "Idempotency key reused"


class StillRunning(Conflict):
    """The first request with this key has not ended."""

    code = "still_running"
    title = "The first request is still running"
