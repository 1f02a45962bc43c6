"""Do a write once, however often it is sent: answers kept under the caller's own key.

The key is taken in a transaction of its own before the work starts and gets its answer when it has
ended, so no model is called while a transaction is open. A process that dies in between leaves a
key without an answer; after `LEASE_SECONDS` a retry may take it over (the work itself does not
repeat: equal memories are confirmed, not stored twice). Only successes are kept. Ages are taken by
the database's clock: those of two web processes may differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.db.models.functions import Now

from accounts import tenancy
from accounts.caller import Caller
from teams.models import IdempotencyKey

KEPT_HOURS: Final = 24
LEASE_SECONDS: Final = 90  # longer than any request may take


class Standing(StrEnum):
    """Where a key stands when a request comes with it."""

    NEW = "new"
    RUNNING = "running"
    ANSWERED = "answered"
    OTHER_REQUEST = "other_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is known of a key: where it stands, and the answer if there is one."""

    standing: Standing
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def begin(*, caller: Caller, key: str, fingerprint: str) -> Kept:
    """Take a key for a request whose content has this fingerprint, or say who has it."""
    mine = IdempotencyKey.objects.filter(principal=_principal(caller))
    with tenancy.unit():
        mine.filter(created_at__lt=Now() - timedelta(hours=KEPT_HOURS)).delete()
        row, is_new = IdempotencyKey.objects.get_or_create(
            principal=_principal(caller), key=key, defaults={"fingerprint": fingerprint}
        )
        if is_new:
            mine.filter(pk=row.pk).update(created_at=Now())
            return Kept(standing=Standing.NEW)
        if row.fingerprint != fingerprint:
            return Kept(standing=Standing.OTHER_REQUEST)
        if row.status is not None:
            return Kept(
                standing=Standing.ANSWERED,
                status=row.status,
                headers=row.headers,
                body=bytes(row.body),
            )
        left_at = Now() - timedelta(seconds=LEASE_SECONDS)
        same = mine.filter(pk=row.pk, status=None, created_at=row.created_at)
        is_taken = same.filter(created_at__lt=left_at).update(created_at=Now()) == 1
        return Kept(standing=Standing.NEW if is_taken else Standing.RUNNING)


def finish(
    *, caller: Caller, key: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Keep the answer to the request that took the key."""
    with tenancy.unit():
        IdempotencyKey.objects.filter(principal=_principal(caller), key=key).update(
            status=status, headers=dict(headers), body=body
        )


def release(*, caller: Caller, key: str) -> None:
    """Give a key back whose request was refused or failed, so that it can be tried again."""
    with tenancy.unit():
        IdempotencyKey.objects.filter(principal=_principal(caller), key=key, status=None).delete()


def _principal(caller: Caller) -> str:
    return f"user:{caller.user_id}" if caller.token_id is None else f"token:{caller.token_id}"
