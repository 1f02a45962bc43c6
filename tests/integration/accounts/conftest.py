"""What stands in for the broker and for the work of a job."""

from collections.abc import Mapping
from typing import Any

import pytest

from accounts import jobs
from accounts.jobs import Claim
from config.celery import app
from tests.support.work import NAME


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queues that were woken."""
    heard: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: heard.append(args[0]))
    return heard


@pytest.fixture
def nobody_listens(woken: list[str]) -> None:
    """No broker: what a job does is looked at row by row."""


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the handler of the job's name does: `do` is called with the claim."""
    plan: dict[str, Any] = {}

    def follow(claim: Claim) -> Mapping[str, Any]:
        return plan["do"](claim)

    monkeypatch.setitem(jobs._handlers, NAME, follow)
    return plan
