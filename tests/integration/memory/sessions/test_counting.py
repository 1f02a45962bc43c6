"""Sums hold a session as a whole, in however many pieces it came; deleting it takes that back."""

from itertools import pairwise
from typing import Any, Final

import pytest

from accounts import tenancy
from memory.observer.actions.delete_session import Fate, delete_session
from memory.observer.actions.finalize import finalize
from memory.sessions.actions.lifecycle import forget
from memory.sessions.counters import Kind
from memory.sessions.models import Statistic
from tests.support.agent_runs import STREAM, Run, Shop

KINDS: Final = tuple(kind.value for kind in Kind)
FILE: Final = "src/shop/cart.py"


def sums() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return all that stands in the sums; what errors said goes with whoever said it last."""
    with tenancy.unit():
        rows = list(Statistic.objects.filter(kind__in=KINDS))
    return {
        (row.kind, str(row.audience), row.key): {
            name: value
            for name, value in row.counts.items()
            if (row.kind, name) != (Kind.ERROR, "notes")
        }
        for row in rows
    }


def in_parts(shop: Shop, *cuts: int, **new: Any) -> Run:
    """Run the stream in a session that ends after each of these events, and at last."""
    run = shop.opened(cwd="/home/ana/shop", **new)
    for first, last in pairwise((0, *sorted(set(cuts)), len(STREAM))):
        run.does(*STREAM[first:last])
        run.finalized()
        assert finalize(session_id=run.id, now=run.now) == {}
    return run


def delete(run: Run) -> None:
    """Delete a session for good, and keep what was taken from it."""
    delete_session(caller=run.caller, session_id=run.id, memories=Fate.KEEP, now=run.now)


@pytest.mark.parametrize(("cuts", "shared"), [((6, 10), False), ((1, 5, len(STREAM) - 1), True)])
def test_in_however_many_pieces_a_session_comes_the_sums_are_the_same(
    shop: Shop, cuts: tuple[int, ...], shared: bool
) -> None:
    by = shop.program if shared else shop.agent
    before = sums()
    whole = shop.ran(by=by, shared=shared)
    once = sums()
    delete(whole)
    between = sums()

    parts = in_parts(shop, *cuts, by=by, shared=shared)
    in_pieces, seen = sums(), {one["sessions"] for one in parts.observed["seen"]}
    delete(parts)

    assert once != before
    assert seen == {1}  # its first half is no other session
    assert (between, in_pieces, sums()) == (before, once, before)


def test_what_another_session_has_added_stays_when_one_is_deleted(shop: Shop) -> None:
    shop.ran()
    before = sums()
    again = in_parts(shop.at(hours=1), 6, 10)
    both = sums()[Kind.FILE, str(shop.agent.user_id), FILE]

    delete(again)

    assert both["sessions"] == 2
    assert sums() == before


def test_a_session_whose_events_are_forgotten_keeps_what_it_added(shop: Shop) -> None:
    run = in_parts(shop)
    once = sums()
    run.now = shop.at(days=400).now
    forget(now=run.now)
    assert 1 not in run.streams()
    run.does({"sequence": 90, "kind": "tool_call", "name": "Read", "args": {"file_path": FILE}})
    run.finalized()
    after = sums()

    delete(run)

    assert (after, sums()) == (once, {})
