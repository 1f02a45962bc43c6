"""What a worker does when it is woken, and what the clock starts.

A wake-up names a queue, not a job: the worker claims the most urgent due job, runs it inside its
organization, and wakes the next worker while work remains. While a job runs, a thread extends its
lease; when the process dies, the lease ends and the sweeper hands the job on. A job that takes too
long or too much memory fails with that reason; one that cannot even be told is killed.
"""

import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from opentelemetry import trace

from accounts import audit, jobs, metrics, tenancy
from accounts.actions import tokens
from accounts.audit import Origin, Surface
from accounts.errors import CairnError, Unavailable
from accounts.jobs import Claim
from accounts.messages import join_messages, message
from accounts.sessions import SessionStore

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS: Final = 15  # a quarter of the lease
TO_END_SECONDS: Final = 15  # for a job that is told to stop; then it is killed with its process


@shared_task(  # type: ignore[untyped-decorator]
    name=jobs.WAKE_TASK,
    soft_time_limit=settings.JOB_SECONDS,
    time_limit=settings.JOB_SECONDS + TO_END_SECONDS,
    ignore_result=True,
)
def wake(queue: str) -> None:
    """Run the most urgent due job of a queue, if there is one."""
    close_old_connections()
    held = jobs.claim(queue=queue, worker=f"{socket.gethostname()}:{os.getpid()}")
    if held is None:
        return
    run(held=held)
    jobs.wake(queue=queue)


@shared_task(name="cairn.sweep", ignore_result=True)  # type: ignore[untyped-decorator]
def sweep(interval_seconds: int) -> None:
    """Hand on jobs whose worker is gone, and wake the queues that have due work."""
    close_old_connections()
    if jobs.take_slot(name="sweep", interval_seconds=interval_seconds):
        found = jobs.sweep()
        if found["requeued"] or found["quarantined"]:
            log.warning("Jobs whose worker was gone: %s", found)


@shared_task(name="cairn.evict", ignore_result=True)  # type: ignore[untyped-decorator]
def evict(interval_seconds: int) -> None:
    """Forget finished jobs, slots and sessions past their time."""
    close_old_connections()
    if jobs.take_slot(name="evict", interval_seconds=interval_seconds):
        jobs.evict()
        SessionStore.clear_expired()


@jobs.handler("accounts.tell_leak")
def tell_leak(claim: Claim) -> Mapping[str, Any]:
    """Tell the owner of a token that it was found in the open."""
    return {"told": tokens.tell_owner(token_id=UUID(claim.payload["token"]))}


def run(*, held: Claim) -> None:
    """Run a claimed job in its organization and record how it ended."""
    with (
        _kept_lease(held),
        audit.coming_from(origin=Origin(surface=Surface.JOB, request_id=str(held.id))),
        tenancy.enter(held.tenant),
    ):
        trace.get_current_span().set_attribute("cairn.job", held.name)
        began = time.perf_counter()
        outcome = "failed"
        try:
            result = jobs.run_handler(held)
        except jobs.PermanentFailure as error:
            jobs.fail(held=held, reason=error.reason, permanent=True)
        except Unavailable as error:
            jobs.postpone(held=held, reason=join_messages(error.detail, error.hint))
            outcome = "postponed"
        except (CairnError, SoftTimeLimitExceeded, MemoryError) as error:
            jobs.fail(held=held, reason=_reason(error), permanent=False)
        except Exception as error:  # a worker lives on, and the job says why
            log.exception("Job %s %s failed", held.name, held.id)
            kind = f"{type(error).__module__}.{type(error).__qualname__}"  # its text holds content
            reason = message("Unexpected {kind}; the log has it under this job's id.", kind=kind)
            jobs.fail(held=held, reason=reason, permanent=False)
        else:
            jobs.finish(held=held, result=result)
            outcome = "done"
        seconds = time.perf_counter() - began
        metrics.JOB_SECONDS.labels(held.name, jobs.NAMES.get(held.name, ""), outcome).observe(
            seconds
        )


def _reason(error: CairnError | SoftTimeLimitExceeded | MemoryError) -> str:
    if isinstance(error, CairnError):
        return join_messages(error.detail, error.hint)
    if isinstance(error, MemoryError):
        most = settings.JOB_MEMORY_MB
        return message("It needed more memory than the {most} MB of a job.", most=most)
    seconds = settings.JOB_SECONDS
    return message("It ran longer than {seconds} s and was stopped.", seconds=seconds)


@contextmanager
def _kept_lease(held: Claim) -> Iterator[None]:
    """Extend the lease of a job by a thread of its own until the block ends."""
    stop = Event()

    def extend() -> None:
        is_held = True
        while is_held and not stop.wait(HEARTBEAT_SECONDS):
            try:
                is_held = jobs.heartbeat(held=held)
            except DatabaseError as error:
                kind = type(error).__name__
                log.warning("The lease of job %s was not extended: %s", held.id, kind)
                connection.close()
        connection.close()

    thread = Thread(target=extend, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
