"""What a request about a session waits for: never for a model, and hardly for anything else."""

import statistics
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.providers.settings import Limits
from memory.sessions.actions.append_turns import NewTurn, append_turns, take_conversation
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.models import Turn
from tests.support import vendors
from tests.support.vendor_server import Fault, Vendor

pytestmark = pytest.mark.usefixtures("in_organization")

TEXT = "We decided to move from Redis 6 to Valkey because of the license. " * 8


@pytest.fixture
def hanging() -> Iterator[Vendor]:
    """An installation whose chat model never answers."""
    with vendors.chatting_vendor(model="slow", limits=Limits()) as running:
        running.script.extend([Fault.HANG] * 100)
        yield running


def test_handing_in_a_conversation_asks_no_model(
    agent: Caller, store: str, now: datetime, hanging: Vendor
) -> None:
    turns = tuple(NewTurn(role="user", text=f"{TEXT} {number}") for number in range(40))

    taken = take_conversation(caller=agent, new=NewSession(project=store), turns=turns, now=now)

    assert (taken.stored, hanging.asked) == (40, [])
    assert taken.job_id is not None


def test_appending_a_turn_is_quick(
    agent: Caller, store: str, now: datetime, figure: Callable[[str], None]
) -> None:
    session = open_session(caller=agent, new=NewSession(project=store), now=now).session
    spent, busy = [], time.process_time()

    for number in range(60):
        started = time.perf_counter()
        turn = NewTurn(role="user", text=f"{TEXT} {number}")
        append_turns(caller=agent, session_id=session.id, turns=(turn,), now=now)
        spent.append(1_000 * (time.perf_counter() - started))

    figure(
        f"a turn of {len(TEXT)} characters: p50 {statistics.median(spent):.1f} ms,"
        f" {1_000 * (time.process_time() - busy) / len(spent):.1f} ms of processor time here"
    )
    with tenancy.unit():
        assert Turn.objects.count() == 60
