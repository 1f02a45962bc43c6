"""Conversations that clients bring: neighbors, days, and what a memory is believed by."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.errors import InvalidInput
from memory.index.actions import maintenance
from memory.intake.actions.revise import revise
from memory.records import actions, writes
from memory.records.models import Memory
from memory.records.queries import memories
from tests.support.memories import CARTS, REDIS
from tests.support.reviewed import World

FRIDAY = datetime(2026, 1, 2, 9, tzinfo=UTC)
TUESDAY = datetime(2026, 1, 6, 9, tzinfo=UTC)
SAID = ("Ada: Where do we keep the seed of the parser?", "Ben: Beside the mill, under the weir.")


def _contents(world: World, query: str, **wanted: object) -> list[str]:
    return [hit.memory.content for hit in world.search(query, threshold=0.0, **wanted).hits]


def test_a_turn_counts_for_the_next_one_of_its_sitting_alone(world: World) -> None:
    for place, said in enumerate(SAID):
        world.stored(said, type="episode", thread="weekly", session="first", position=place)
    world.stored("Ben: Nobody has it, I think so.", type="episode", thread="weekly", position=1)
    for number in range(30):
        world.stored(f"Note {number}: the parser keeps {number} seeds in its drawer.")

    found = _contents(world, "where is the seed of the parser kept")

    assert SAID[1] in found
    assert "Ben: Nobody has it, I think so." not in found


def test_a_place_is_one_in_a_conversation(world: World) -> None:
    with pytest.raises(InvalidInput) as refused:
        world.stored(REDIS, position=3)

    assert refused.value.errors[0].pointer == "/position"


def test_what_happened_on_a_day_is_found_by_its_date(world: World) -> None:
    then = world.stored("The gate of the mill was mended by Ada.", event_at=FRIDAY)
    late = world.stored("The gate of the mill was mended by Ben.", event_at=TUESDAY)
    maintenance.refresh_lexicon()
    asked_at = TUESDAY + timedelta(days=1)

    for query, first in {
        "who mended the gate on 2 January": then,
        "who mended the gate on 2026-01-06": late,
        "who mended the gate yesterday": late,
        "who mended the gate last Friday": then,
    }.items():
        assert _contents(world, query, asked_at=asked_at)[0] == first.content, query


def test_what_was_stored_before_days_were_words_is_found_by_its_day(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [datetime(2026, 5, day, 9, tzinfo=UTC) for day in (3, 4, 5)]
    told = [
        world.stored(f"The {word} of the queue was drained.", type="event", event_at=day)
        for word, day in zip(("head", "tail", "middle"), days, strict=True)
    ]
    with tenancy.unit():
        rows = tuple(Memory.objects.filter(pk__in=[one.id for one in told]))
        for row in rows:
            row.event_at = None
        writes.index_words(rows=rows)
    monkeypatch.setattr(actions, "DAY_BATCH", 2)

    before = world.search("what happened on 4 May 2026", mode="keyword", threshold=0.0).hits
    done = [actions.index_days(), actions.index_days()]
    found = world.search("what happened on 4 May 2026", mode="keyword", threshold=0.0).hits

    assert (before, done) == ((), [3, 0])
    assert found[0].memory.id == told[1].id


def test_a_day_on_which_nothing_happened_withholds_nothing(world: World) -> None:
    world.stored(REDIS)

    usual = world.search("redis unreachable token refresh")
    asked = world.search("redis unreachable token refresh 2026-01-02")

    assert asked.hits[0].relevance >= usual.hits[0].relevance / 2
    assert not asked.nothing_relevant


def test_being_listed_restores_no_confidence(world: World) -> None:
    memory = world.stored(REDIS, type="gotcha")
    later = replace(world, now=world.now + timedelta(days=200))
    faded = memories.get(caller=world.owner, memory_id=memory.id, now=later.now)

    listed = later.search("redis unreachable token refresh", threshold=0.0).hits[0].memory
    maintenance.merge_access()
    again = later.search("redis unreachable token refresh", threshold=0.0).hits[0].memory

    assert faded.effective_confidence < memory.effective_confidence
    assert (again.access_count, again.last_accessed_at) == (1, later.now)
    assert listed.effective_confidence == again.effective_confidence == faded.effective_confidence


def test_age_counts_from_words_and_confirmations_and_from_no_other_change(world: World) -> None:
    memory = world.stored(REDIS, type="gotcha")
    later = world.now + timedelta(days=60)

    def seen() -> float:
        view = memories.get(caller=world.owner, memory_id=memory.id, now=later)
        hit = replace(world, now=later).search(
            "redis unreachable token refresh", profile="cognitive", threshold=0.0
        ).hits[0]  # fmt: skip
        assert hit.explain["parts"]["confidence"] == pytest.approx(0.15 * view.effective_confidence)
        return view.effective_confidence

    def changed(**changes: object) -> None:
        revise(caller=world.owner, memory_id=memory.id, changes=changes, if_version=None, now=later)

    aged = seen()
    changed(tags=("cache",))
    tagged = seen()
    changed(content=f"{REDIS} Always.")

    assert aged == tagged == pytest.approx(memory.confidence / 2)
    assert seen() == memory.confidence


def test_an_open_conflict_lowers_both_sides_for_those_who_know_of_it(world: World) -> None:
    older, newer = world.stored(REDIS), world.stored(CARTS)
    before = older.effective_confidence
    conflict_id = world.conflict_of(older, newer)

    def seen(memory_id: UUID) -> tuple[bool, float]:
        view = memories.get(caller=world.owner, memory_id=memory_id, now=world.now)
        return view.is_disputed, view.effective_confidence

    assert seen(older.id) == seen(newer.id) == (True, pytest.approx(0.8 * before))
    hit = world.search("redis unreachable token refresh", profile="cognitive").hits[0]
    assert hit.memory.is_disputed
    assert hit.explain["parts"]["confidence"] == pytest.approx(0.15 * 0.8 * before)
    with tenancy.unit():
        Memory.objects.get(pk=older.id).conflicts_as_older.filter(pk=conflict_id).update(
            audience=UUID(int=7)
        )
    assert seen(older.id) == (False, before)
    hit = world.search("redis unreachable token refresh", profile="cognitive").hits[0]
    assert hit.explain["parts"]["confidence"] == pytest.approx(0.15 * before)


def test_a_floor_holds_what_time_takes(world: World) -> None:
    memory = world.stored(REDIS, type="gotcha", confidence_floor=0.5)
    later = world.now + timedelta(days=2_000)

    view = memories.get(caller=world.owner, memory_id=memory.id, now=later)

    assert view.effective_confidence == 0.5
