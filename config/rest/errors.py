"""What the REST shell itself refuses about retries.

CairnError
├── InvalidInput
│   └── IdempotencyMismatch  422  the key was used for another request
└── Conflict
    └── StillRunning         409  the first request with this key has not ended
"""

from accounts.errors import Conflict, InvalidInput


class IdempotencyMismatch(InvalidInput):
    """The key belongs to another request."""

    code = "idempotency_mismatch"
    title = "Idempotency key reused"


class StillRunning(Conflict):
    """The first request with this key has not ended."""

    code = "still_running"
    title = "The first request is still running"
