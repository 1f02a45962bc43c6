"""Names that a statistical reader finds at night, in memories whose patterns found few."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.entities import actions
from memory.entities.accurate import ENOUGH
from memory.entities.actions import (
    A_NIGHT,
    ENRICH_ENTITIES,
    enrich_entities,
    queue_enrich_entities,
    read_names,
)
from memory.entities.models import Mention
from memory.providers import registry
from memory.providers.contracts import NameReader, ReadSpan
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused
from memory.providers.guard import ProviderSettings
from memory.providers.name_reader import NUMBER
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.search.entity_profile import about, list_things
from memory.search.request import Narrowing
from tests.support.marking import marking, not_there
from tests.support.reviewed import World

MOVED = "Priya Raman decided that reports are sent on the first day of a month."
NAMED = "AuthService asks Kafka; Marco wrote it."


def enrich(reader: NameReader, *, left: int = 1_000) -> Mapping[str, Any]:
    return enrich_entities(left=left, tell=lambda *_: None, open_reader=lambda: reader)


def mentions() -> set[tuple[str, int]]:
    with tenancy.unit():
        return set(Mention.objects.values_list("key", "read_by"))


def marks() -> list[int]:
    with tenancy.unit():
        return sorted(Memory.objects.values_list("enriched_by", flat=True))


def queued() -> list[dict[str, Any]]:
    rows = Job.objects.filter(name=ENRICH_ENTITIES, state="queued")
    return list(rows.values_list("payload", flat=True))


def person(world: World, name: str, by: Caller | None = None) -> int:
    """Say how many memories name a person, as the owner or somebody else sees it."""
    given = {"narrowing": Narrowing(limit=9), "now": world.now}
    found = about(caller=by or world.owner, name=name, type="person", **given)
    return 0 if found.thing is None else found.thing.memories


@pytest.fixture
def moved(world: World) -> MemoryView:
    """A memory that names a person without any sign of it."""
    return world.stored(MOVED)


def test_a_person_is_found_and_nothing_else_changes(world: World, moved: MemoryView) -> None:
    with tenancy.unit():
        before = Memory.objects.values("version", "updated_at").get(pk=moved.id)
    unread = person(world, "Priya Raman")
    heard: list[str] = []

    done, again = enrich(marking(heard=heard)), enrich(marking(heard=heard))

    assert (unread, person(world, "priya-raman")) == (0, 1)
    assert (done, again["read"], heard) == ({"read": 1, "named": 1}, 0, [MOVED])
    assert (mentions(), marks()) == ({("priya raman", NUMBER)}, [NUMBER])
    with tenancy.unit():
        assert Memory.objects.values("version", "updated_at").get(pk=moved.id) == before
        Memory.objects.update(names_version=0)  # a grown reader of patterns leaves it to the night
    read_names(tell=lambda *_: None)
    between = marks()
    enrich(marking())
    assert (between, mentions()) == ([0], {("priya raman", NUMBER)})


def test_a_memory_with_two_names_is_passed_over_once(world: World) -> None:
    world.stored(NAMED)
    heard: list[str] = []

    enrich(marking(heard=heard))
    assert (heard, marks()) == ([], [ENOUGH])
    with tenancy.unit():
        Memory.objects.update(enriched_by=0)  # as before marks were kept
    first, second = enrich(marking(heard=heard)), enrich(marking(heard=heard))

    assert (first["read"], second["read"], heard, marks()) == (1, 0, [], [ENOUGH])


def test_a_text_that_changes_meanwhile_is_read_anew(world: World, moved: MemoryView) -> None:
    def change(name: str) -> None:
        world.say(moved, by=world.owner, content=MOVED.replace("Priya Raman", name))

    enrich(marking())
    change("Globex")
    before = mentions()
    enrich(marking(meanwhile=lambda: change("Marco")))
    between = (mentions(), marks())
    enrich(marking())

    assert (before, between) == (set(), (set(), [0]))
    assert mentions() == {("marco", NUMBER)}


def test_one_that_cannot_be_read_stops_nobody_and_a_batch_is_of_few_characters(
    world: World, moved: MemoryView, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.stored("Globex wants long reports.")
    plain, sizes = marking(), list[int]()

    def stumbling(texts: tuple[str, ...]) -> tuple[tuple[ReadSpan, ...], ...]:
        sizes.append(len(texts))
        if MOVED in texts:
            raise ProviderInvalidAnswer(detail="It stumbled.")
        return plain(texts)

    first, second = enrich(stumbling), enrich(stumbling)

    assert first == {"read": 2, "named": 1, "failed": 1}
    assert (second["read"], mentions(), marks()) == (0, {("globex", NUMBER)}, [NUMBER, NUMBER])
    assert sizes == [2, 1, 1]
    monkeypatch.setattr(actions, "CHARACTERS", len(MOVED))
    with tenancy.unit():
        Memory.objects.update(enriched_by=0)
    assert (enrich(stumbling)["read"], sizes[3:]) == (2, [1, 1])


def test_a_part_that_is_killed_or_done_twice_stores_a_name_once(moved: MemoryView) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        enrich(marking(meanwhile=die))
    enrich(marking(meanwhile=lambda: enrich(marking())))

    assert (mentions(), marks()) == ({("priya raman", NUMBER)}, [NUMBER])


def test_a_night_ends_and_is_done_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        world.stored(f"Marco asks for rule {number} to stay as it is.")
    monkeypatch.setattr(actions, "ENRICH_BATCH", 2)
    monkeypatch.setattr(actions, "BATCHES", 1)
    told: list[tuple[int, int]] = []
    after: list[list[dict[str, Any]]] = []

    for left in (5, 3, 1):
        enrich_entities(left=left, tell=lambda *so_far: told.append(so_far), open_reader=marking)
        after.append(queued())
        Job.objects.all().delete()

    assert told == [(2, 2), (2, 2), (1, 1)]
    assert (marks(), after) == ([0, 0, *[NUMBER] * 5], [[{"left": 3}], [{"left": 1}], []])


def test_the_job_is_queued_where_something_waits_and_once(world: World) -> None:
    archived = world.stored(MOVED)
    with tenancy.unit():
        Memory.objects.filter(pk=archived.id).update(status="archived")
    nothing = queue_enrich_entities()
    world.stored("Marco wants short names.")

    assert not nothing
    assert queue_enrich_entities()
    assert not queue_enrich_entities()
    assert queued() == [{"left": A_NIGHT}]


def test_a_missing_reader_is_told_and_an_altered_one_ends_the_job(moved: MemoryView) -> None:
    def altered() -> NameReader:
        raise ProviderRefused(detail="It is altered.", hint="Run: make ner")

    done = enrich_entities(left=9, tell=lambda *_: None, open_reader=not_there)
    with pytest.raises(jobs.PermanentFailure, match=r"It is altered\. Run: make ner"):
        enrich_entities(left=9, tell=lambda *_: None, open_reader=altered)

    assert done == {"read": 0, "named": 0, "not_installed": "It is not installed. Run: make ner"}
    assert (marks(), queued()) == ([0], [])


def test_a_name_stays_with_those_who_may_read_its_memory(world: World) -> None:
    world.stored(MOVED, scope="personal")
    world.stored("Marco wants short names.")

    enrich(marking())

    for who, seen in ((world.owner, [1, 1]), (world.member, [0, 1])):
        assert [person(world, name, who) for name in ("Priya Raman", "Marco")] == seen
    listed, _ = list_things(
        caller=world.member, begins="", type=None, narrowing=Narrowing(), after=None, limit=9
    )
    assert [(one.name, one.memories) for one in listed] == [("Marco", 1)]


def test_the_command_takes_back_what_was_read(world: World, tmp_path: Path) -> None:
    world.stored("AuthService: Marco wants short names.")
    enrich(marking())
    before, told = mentions(), StringIO()

    call_command("enrich_entities", tenant="acme", take_back=True, stdout=told)

    assert before == {("auth service", 0), ("marco", NUMBER)}
    assert told.getvalue() == "acme: 1 names forgotten\n"
    assert (mentions(), queue_enrich_entities()) == ({("auth service", 0)}, False)
    registry.configure(settings=ProviderSettings(models_dir=tmp_path))
    try:
        with pytest.raises(CommandError, match="Run: make ner"):
            call_command("enrich_entities", tenant="acme")
        with pytest.raises(CommandError, match="There is no organization 'nobody'"):
            call_command("enrich_entities", tenant="nobody")
    finally:
        registry.reset()


def test_another_tag_or_place_keeps_what_was_read(world: World, moved: MemoryView) -> None:
    enrich(marking())
    before = person(world, "Priya Raman", world.member)

    for changes in ({"tags": ["reports"]}, {"scope": "personal"}):
        world.say(moved, by=world.owner, **changes)

    assert (mentions(), marks()) == ({("priya raman", NUMBER)}, [NUMBER])
    assert (before, person(world, "Priya Raman", world.member)) == (1, 0)
    assert person(world, "Priya Raman") == 1


def test_who_found_a_name_is_told_by_what_one_may_see(world: World) -> None:
    world.stored("Marco wants short names.")
    world.stored("Ask @Marco about the reports of a month.", scope="personal")
    enrich(marking())

    told = [
        about(caller=one, name="Marco", type=None, narrowing=Narrowing(limit=9), now=world.now)
        for one in (world.owner, world.member)
    ]

    assert [one.is_only_read for one in told] == [False, True]
    assert [one.thing and one.thing.memories for one in told] == [2, 1]
