"""The events of a session against their goals: a batch as it comes, and the end.

Run: `.venv/bin/python -m tests.bench.bench_events [SESSIONS]`; two minutes. A batch is 100 events
as an agent has them, over HTTP to one uvicorn process from one client: reads of real code, edits,
searches, runs, what it says. Then sessions of 5,000 such events are looked at while they come, and
finalized. Shares are of the goals; processor time is that of the program and of Postgres.
"""

import sys
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from uuid import UUID

import httpx
from django.core.management import call_command
from django.utils import timezone

from accounts.caller import Caller
from config import celery
from memory.observer.actions.finalize import finalize
from memory.observer.actions.session_findings import observe
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from teams.actions import create_project
from tests.bench import bench_folding, measures, serving, texts
from tests.support import people

BATCH, BATCH_MS = 100, 25.0  # events, and how long they may take
EVENTS, FINALIZE_MS = 5_000, 100.0
LOOKED_AT = 500  # events after which the observer looks
BATCHES, WARMING = 60, 5
SESSIONS = 10  # that are finalized
PIECES = 300  # of code, different ones
PROJECT = "bench"
Rows = tuple[object, ...]


def main(*, sessions: int) -> None:
    """Serve an organization, send batches, and finalize sessions."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="events")
    with people.entered(organization=organization):
        create_project(caller=caller, slug=PROJECT, name=PROJECT, now=timezone.now())
        with serving.served() as server:
            _batches(serving.token(caller=caller), server.pid)
        _ends(caller, sessions)


def _batches(token: str, server_id: int) -> None:
    clock, spent = [], []
    with serving.client(token=token) as client:
        opened = client.post("/api/v1/sessions", json={"project": PROJECT})
        path = f"/api/v1/sessions/{opened.json()['id']}/events"
        for rows in _in_parts(_rows((BATCHES + WARMING) * BATCH, seed=1), BATCH):
            workers = (server_id, *measures.backends())
            before = measures.processor(process_ids=workers)
            clock.append(measures.timed(partial(_send, client, path, rows)))
            spent.append(measures.processor(process_ids=workers) - before)
    measures.against(f"a batch of {BATCH}", clock[WARMING:], BATCH_MS)
    measures.against("its processor time", spent[WARMING:], BATCH_MS)


def _send(client: httpx.Client, path: str, rows: Rows) -> None:
    answer = client.post(path, json={"events": list(rows)})
    assert answer.status_code == 200, answer.text
    assert answer.json()["stored"] == len(rows)


def _ends(caller: Caller, sessions: int) -> None:
    now = timezone.now()
    clock, spent = [], []
    celery.keep_loaded()
    for seed in range(sessions + 1):
        session_id = _session(caller, _rows(EVENTS, seed=seed), now)
        took = measures.cost(partial(finalize, session_id=session_id, now=now))
        if seed:  # the first warms
            clock.append(took.clock * 1_000)
            spent.append((took.process + took.backend) * 1_000)
    measures.against(f"finalize {EVENTS:,} events", clock, FINALIZE_MS)
    measures.against("its processor time", spent, FINALIZE_MS)


def _session(caller: Caller, rows: Rows, now: datetime) -> UUID:
    """Return a session that has ended and was looked at while it ran."""
    new = NewSession(project=PROJECT, branch="main", type="terminal", shared=True)
    session_id = open_session(caller=caller, new=new, now=now).session.id
    for part in _in_parts(rows, LOOKED_AT):
        append_events(caller=caller, session_id=session_id, events=part, now=now)
        observe(session_id=session_id, now=now)
    end_session(caller=caller, session_id=session_id, now=now)
    return session_id


def _rows(count: int, *, seed: int) -> Rows:
    """Return so many events of an agent's work."""
    codes = texts.code(count=PIECES, seed=seed)
    return bench_folding.made(calls=count // 2, codes=codes, seed=seed)[:count]


def _in_parts(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


if __name__ == "__main__":
    main(sessions=int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS)
