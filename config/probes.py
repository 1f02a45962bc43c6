"""`/health/live` and `/health/ready`: what a supervisor and a load balancer ask.

Anyone may ask, so the answer names the checks and no details, and findings are kept for a few
seconds. Only what no request can do without makes an installation unavailable: without Redis or a
worker it still searches and stores, so that is told as degraded with status 200.
"""

import threading
import time
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config import health
from config.health import Check

KEPT_SECONDS = 5.0
RETRY_AFTER_SECONDS = 5
ESSENTIAL = frozenset({"database", "migrations", "organizations"})


class Findings:
    """The latest findings of this process, asked for again when they are older than a few seconds.

    One thread asks at a time; the others wait for its answer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checks: tuple[Check, ...] = ()
        self._asked_at = float("-inf")

    def latest(self) -> tuple[Check, ...]:
        """Return the findings, at most `KEPT_SECONDS` old."""
        with self._lock:
            if time.monotonic() - self._asked_at > KEPT_SECONDS:
                self._checks = health.readiness()
                self._asked_at = time.monotonic()
            return self._checks


FINDINGS = Findings()


@require_safe
def live(_request: HttpRequest) -> HttpResponse:
    """Answer as long as the process can answer at all."""
    return HttpResponse("live\n", content_type="text/plain")


@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 when requests can be served, 503 with Retry-After when they cannot."""
    checks = FINDINGS.latest()
    state = judge(checks=checks)
    answer = {"status": state, "checks": {check.name: check.ok for check in checks}}
    if state == "unavailable":
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return JsonResponse(answer, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)
    return JsonResponse(answer)


def judge(*, checks: tuple[Check, ...]) -> str:
    """Return ready, degraded or unavailable."""
    wrong = {check.name for check in checks if not check.ok}
    if wrong & ESSENTIAL:
        return "unavailable"
    return "degraded" if wrong else "ready"


urlpatterns = [path("live", live), path("ready", ready)]
