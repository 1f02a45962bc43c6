"""What a memory names: read once, found by any spelling, joined where certain."""

import math
from itertools import product
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import connection

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.entities import actions, names
from memory.entities.actions import READ_NAMES, queue_read_names
from memory.entities.close_names import Reason
from memory.entities.models import Mention
from memory.entities.queries import Thing
from memory.intake.actions.remember import remember_all
from memory.records.models import Memory, ReviewVerdict
from memory.review.actions.entity_merges import (
    MergePair,
    join_names,
    merge_names,
    scope_of,
    unmerge_names,
)
from memory.search.entity_profile import (
    MOST_LOOKED_BESIDE,
    Profile,
    Suggestion,
    about,
    list_things,
    suggest_names,
)
from memory.search.query import understand
from memory.search.request import Narrowing
from tests.support import crowds
from tests.support.memories import new
from tests.support.reviewed import World

TOKENS = "AuthService keeps its tokens for an hour and asks k8s for new ones."
OTHER = "The auth-service is restarted by hand after every change of its keys."
PLAIN = "Nightly exports wait for the warehouse and give up after ten minutes."


def named(world: World, question: str, by: Caller | None = None) -> dict[UUID, float]:
    """Return the score of each memory that names what a question names."""
    asked = [*understand(text=question).named]
    with tenancy.unit():
        found = crowds.ask(caller=by or world.owner, named=asked)
    return {
        one.memory_id: round(one.scores["entities"], 4) for one in found if "entities" in one.scores
    }


def mentions(memory_id: UUID) -> set[tuple[str, str]]:
    """Return what a memory names: key, and how it is written."""
    with tenancy.unit():
        return set(Mention.objects.filter(memory_id=memory_id).values_list("key", "name"))


def test_many_at_once_name_theirs(world: World) -> None:
    both = tuple(new(text, project=world.store) for text in (TOKENS, OTHER))

    views = [one.memory for one in remember_all(caller=world.owner, new=both, now=world.now)]

    assert [mentions(view.id) for view in views if view] == [
        {("auth service", "AuthService"), ("kubernetes", "k8s")},
        {("auth service", "auth-service")},
    ]


def test_a_moved_changed_or_corrected_memory_names_what_it_says_now(world: World) -> None:
    memory = world.stored(TOKENS, scope="personal")
    before = named(world, "AuthService", by=world.member)

    world.say(memory, by=world.owner, scope="project")

    assert before == {}
    assert set(named(world, "AuthService", by=world.member)) == {memory.id}
    world.say(memory, by=world.owner, content=PLAIN.replace("warehouse", "Kafka"))
    assert mentions(memory.id) == {("kafka", "Kafka")}
    text = TOKENS.replace("AuthService", "TokenStore")
    new_id = world.put_right(memory.id, text, world.owner)
    assert set(named(world, "TokenStore")) == {new_id}
    assert named(world, "Kafka") == {}


def test_every_spelling_finds_every_spelling_and_a_rare_thing_counts_more(world: World) -> None:
    rare, common = (world.stored(text).id for text in (TOKENS, OTHER))
    world.stored(PLAIN)

    for question in ("AuthService", "what does the auth service do", "restart auth-services now"):
        assert set(named(world, question)) == {rare, common}, question
    once, twice = 1.0, 1 / (1 + math.log(2))
    found = named(world, "auth service on kubernetes")
    assert found == {rare: round(once + twice, 4), common: round(twice, 4)}
    assert named(world, "why is it so?") == {}


def test_a_search_says_what_it_found_by_name(world: World, clean_cache: None) -> None:
    memory = world.stored(TOKENS)
    world.stored(PLAIN)

    hits = world.search("kubernetes", threshold=0.0).hits

    assert hits[0].memory.id == memory.id
    assert hits[0].explain["paths"]["entities"]["score"] == 1.0


def forget_names() -> None:
    """Make every memory one that was stored before names were read."""
    with tenancy.unit():
        Mention.objects.all().delete()
        Memory.objects.update(names_version=0)


def all_mentions() -> set[tuple[UUID, str, str]]:
    with tenancy.unit():
        return set(Mention.objects.values_list("memory_id", "key", "name"))


def queued() -> int:
    return Job.objects.filter(name=READ_NAMES, state="queued").count()


def work() -> dict[str, Any]:
    """Run the job that waits, as a worker would."""
    held = jobs.claim(queue="maintenance", worker="w")
    assert held is not None
    result = dict(jobs.run_handler(held))
    told = Job.objects.get(pk=held.id)
    return {**result, "told": (told.progress_done, told.progress_total)}


def test_an_old_one_is_queued_and_read_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = world.stored(TOKENS)
    assert not queue_read_names()  # what is stored now waits for nobody
    with tenancy.unit():
        before = Memory.objects.values("version", "updated_at").get(pk=old.id)
    forget_names()

    assert queue_read_names()
    assert not queue_read_names()
    assert queued() == 1
    assert work() == {"read": 1, "told": (1, 1)}
    assert all_mentions() == {
        (old.id, "auth service", "AuthService"),
        (old.id, "kubernetes", "k8s"),
    }
    with tenancy.unit():
        assert Memory.objects.values("version", "updated_at").get(pk=old.id) == before
    assert not queue_read_names()
    monkeypatch.setattr(names, "VERSION", names.VERSION + 1)  # a grown reader reads all again
    assert queue_read_names()
    assert work()["read"] == 1
    forget_names()
    world.say(old, TOKENS.replace("k8s", "Kafka"), world.owner)
    assert {key for _, key, _ in all_mentions()} == {"auth service", "kafka"}
    assert not queue_read_names()


def test_many_are_read_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        world.stored(f"Rule {number}: ask Handler{number}Service twice.")
    forget_names()
    monkeypatch.setattr(actions, "READ_BATCH", 2)
    monkeypatch.setattr(actions, "BATCHES", 1)
    queue_read_names()

    parts = [work() for _ in range(3)]

    assert parts == [
        {"read": 2, "told": (2, 5)},
        {"read": 2, "told": (4, 5)},
        {"read": 1, "told": (5, 5)},
    ]
    assert (queued(), len(all_mentions())) == (0, 5)


JOINED: Final = ("The `AuthGate` counts sign-ins.", "The `Authgate` answers within a second.")
SPELLED: Final = (
    "The `OpenAuthGate` counts.", "The `OpenAuthgate` answers.", "The `Openauthgate` is slow.",
)  # fmt: skip
SLIPPED: Final = ("The `ConnectionBroker` waits.", "The `ConectionBroker` is slow at night.")
APART: Final = ("The `CiToolbox` waits.", "The `Citoolbox` is slow at night.")


def _profile(world: World, name: str, by: Caller | None = None) -> Profile:
    given = {"narrowing": Narrowing(limit=9), "now": world.now}
    return about(caller=by or world.owner, name=name, type=None, **given)


def _thing(world: World, name: str, by: Caller | None = None) -> Thing:
    thing = _profile(world, name, by).thing
    assert thing is not None
    return thing


def _close(world: World, name: str) -> tuple[Suggestion, ...]:
    thing = _thing(world, name)
    return suggest_names(caller=world.owner, thing=thing, narrowing=Narrowing())


def _names(found: tuple[Suggestion, ...]) -> list[tuple[str, Reason]]:
    return [(one.thing.name, one.reason) for one in found]


def test_what_is_certain_is_joined_for_those_who_see_the_place(world: World) -> None:
    for text in (*JOINED, *SLIPPED, *SPELLED, *APART):
        world.stored(text)
    pair = MergePair(name="CiToolbox", same_as="Citoolbox", scope="organization")
    merge_names(caller=world.owner, pair=pair, now=world.now)

    done = join_names(now=world.now)

    thing = _thing(world, "AuthGate", world.member)
    assert (done["places"], done["joined"]) == (1, 3)  # three spellings by two pairs
    assert (thing.memories, thing.spellings) == (2, ("AuthGate", "Authgate"))
    assert _thing(world, "OpenAuthGate").memories == 3
    assert _thing(world, "ConnectionBroker", world.member).memories == 1


def test_a_second_night_joins_nothing_and_contradicts_nobody(world: World) -> None:
    for text in JOINED:
        world.stored(text)
    join_names(now=world.now)
    again = join_names(now=world.now)
    (merge,) = _profile(world, "AuthGate", world.member).merges

    unmerge_names(caller=world.owner, merge_id=merge.id, now=world.now)
    after = join_names(now=world.now)

    assert scope_of(merge=merge, caller=world.member) == "project"
    assert (again["joined"], after["joined"]) == (0, 0)
    assert _thing(world, "AuthGate", world.member).memories == 1


def test_names_of_two_places_are_not_joined_nor_what_a_person_keeps(world: World) -> None:
    world.stored(JOINED[0])
    world.stored(JOINED[1], scope="organization", project=None)
    for text in (*SLIPPED[:1], "The `Connectionbroker` is mine."):
        world.stored(text, scope="personal")

    done = join_names(now=world.now)

    assert done["joined"] == 0
    with tenancy.unit():
        assert not ReviewVerdict.objects.exists()


def test_a_longer_name_is_suggested_beside_the_same_names_alone(world: World) -> None:
    for name in ("`Checkout`", "`CheckoutService`"):
        world.stored(f"{name} calls `TaxTable` before `PriceBook` each time.")
    world.stored("`Billing` runs at night.")
    world.stored("`BillingService` sends letters.")

    assert _names(_close(world, "Checkout")) == [("CheckoutService", Reason.LONGER)]
    assert _close(world, "Billing") == ()


@pytest.mark.parametrize(
    ("texts", "name", "other", "reason"),
    [
        (SLIPPED, "ConnectionBroker", "ConectionBroker", Reason.MISSPELLED),
        (APART, "CiToolbox", "Citoolbox", Reason.JOINED),
        (APART, "Citoolbox", "CiToolbox", Reason.JOINED),
    ],
)
def test_what_names_say_by_themselves_needs_no_look_beside_them(
    world: World, texts: tuple[str, ...], name: str, other: str, reason: Reason,
) -> None:  # fmt: skip
    for text in texts:
        world.stored(text)
    thing = _thing(world, name)
    with connection.execute_wrapper(_count := _Counter()):
        found = suggest_names(caller=world.owner, thing=thing, narrowing=Narrowing())

    assert _names(found) == [(other, reason)]
    assert _count.looks == 0


def test_a_suggestion_takes_a_bounded_number_of_statements(world: World) -> None:
    texts = [f"Ask @maria-xo{first}{second} of it." for first, second in product("abcde", repeat=2)]
    for text in ("Ask @maria of the depot about it.", *texts):
        world.stored(text)
    thing = _thing(world, "maria")
    with connection.execute_wrapper(_count := _Counter()):
        suggest_names(caller=world.owner, thing=thing, narrowing=Narrowing())

    assert _count.looks == 1 + MOST_LOOKED_BESIDE  # of 25 names that are likely
    assert _count.statements <= 9 + MOST_LOOKED_BESIDE


def test_a_later_spelling_does_not_join_what_was_taken_apart(world: World) -> None:
    for text in SPELLED[:2]:
        world.stored(text)
    join_names(now=world.now)
    with tenancy.unit():
        made = ReviewVerdict.objects.get()
    unmerge_names(caller=world.owner, merge_id=made.id, now=world.now)
    world.stored(SPELLED[2])

    assert join_names(now=world.now)["joined"] == 1
    listed, _ = list_things(
        caller=world.owner, begins="open", type=None, narrowing=Narrowing(), after=None, limit=9
    )
    assert [one.memories for one in listed] == [2, 1]


class _Counter:
    """Counts statements, and those among them that look at what is named beside a thing."""

    statements = 0
    looks = 0

    def __call__(self, execute: object, *args: object) -> object:
        self.statements += 1
        self.looks += "count(DISTINCT o.memory_id)" in str(args[0])
        return execute(*args)  # type: ignore[operator]
