"""Processes whose clocks are an hour wrong run nothing twice and end nothing early.

Their clocks are shifted by `tests/support/shifted`; the monotonic clock and the database's are not.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from config import env
from teams import idempotency
from teams.idempotency import Standing
from teams.models import IdempotencyKey

SHIFTED = Path(__file__).resolve().parents[2] / "support" / "shifted"
SLOTS = 500
HOUR_S = 3_600

pytestmark = [pytest.mark.usefixtures("in_organization"), pytest.mark.goal(name="G14")]


def begun(shift_s: int, *command: str) -> subprocess.Popen[str]:
    """Start the program on the test database with a wrong clock."""
    url = urlsplit(os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.crash_program", *command],
        env={
            **os.environ,
            "DATABASE_URL": urlunsplit(url._replace(path=f"/{name}")),
            "PYTHONPATH": str(SHIFTED),
            "FIRE_CLOCK_SHIFT_S": str(shift_s),
        },
        cwd=env.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def ended(program: subprocess.Popen[str]) -> str:
    said, _ = program.communicate(timeout=240)
    assert program.returncode == 0
    return said


@pytest.mark.django_db(transaction=True)
def test_wrong_clocks_share_slots_and_leave_leases_alone(figure: Callable[[str], None]) -> None:
    with tenancy.unit():
        jobs.enqueue("memory.embed", payload={"ids": []})
    programs = [begun(shift, "clocks", str(SLOTS)) for shift in (-HOUR_S, HOUR_S)]

    found = [json.loads(ended(program)) for program in programs]

    runs = sorted(number for one in found for number in one["taken"])
    expired = sum(one["swept"]["requeued"] + one["swept"]["quarantined"] for one in found)
    job = Job.objects.annotate(lasts=F("lease_until") - Now()).get()
    figure(f"{len(runs) - len(set(runs))} double runs in {SLOTS} slots, {expired} wrong expiries")
    assert (runs, expired, job.state) == (list(range(SLOTS)), 0, "running")
    assert timedelta(0) < job.lasts <= timedelta(seconds=jobs.LEASE_SECONDS)


def test_a_key_in_use_is_not_taken_over_by_a_process_that_is_early(caller: Caller) -> None:
    assert idempotency.begin(caller=caller, key="k", fingerprint="f").standing == Standing.NEW
    assert idempotency.begin(caller=caller, key="k", fingerprint="f").standing == Standing.RUNNING

    with tenancy.unit():
        lapsed = Now() - timedelta(seconds=idempotency.LEASE_SECONDS + 1)
        IdempotencyKey.objects.update(created_at=lapsed)

    assert idempotency.begin(caller=caller, key="k", fingerprint="f").standing == Standing.NEW
