"""Source notes: only what changed is taken out again, and what is gone makes memories stale."""

from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, TooLarge
from memory.documents import queries
from memory.documents.actions.note_push import LARGEST, NewNote, NotePushed, push_note, remove_note
from memory.documents.models import NoteVersion
from memory.records.actions import confirm
from memory.records.models import Memory
from memory.records.versions import GONE, HELD, REMOVED
from memory.review.actions.verdicts import keep
from tests.support.memories import as_agent
from tests.support.reviewed import World

TEXT = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
LATER = "# Mill\n\nThe miller has the only key to it.\n\nThe wheel turns left.\n"


def push(world: World, text: str = TEXT, by: Caller | None = None, **given: str) -> NotePushed:
    new = NewNote(**{"project": "store", "path": "docs/mill.md", "text": text, **given})
    return push_note(caller=by or world.owner, new=new, now=world.now)


def memory(about: str) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(content__contains=about)


def test_a_statement_in_other_words_brings_its_memory_to_them(world: World) -> None:
    push(world)
    before = memory("gate")

    later = push(world, TEXT.replace("nine", "eleven"))

    after = memory("gate")
    assert (later.added, later.updated, later.kept, later.stale) == (0, 1, 1, 0)
    assert (after.id, after.content) == (before.id, before.content.replace("nine", "eleven"))
    assert (after.source_hash, after.external_id) != (before.source_hash, before.external_id)
    assert push(world, TEXT).updated == 1


def test_after_outside_content_other_words_are_proposed_and_counted(world: World) -> None:
    agent = as_agent(world.owner)
    push(world, by=agent)
    before = memory("gate")

    later = push(world, TEXT.replace("nine", "eleven"), agent, taint="web: evil.example")

    assert (later.updated, later.proposed, later.kept, later.stale) == (0, 1, 1, 0)
    with tenancy.unit():
        old, new = Memory.objects.filter(content__contains="gate").order_by("id")
    assert (old.content, old.status) == (before.content, "active")
    assert (new.taint_reason, new.needs_review) == ("web: evil.example", True)


def test_only_what_changed_is_taken_out_and_what_comes_back_is_true_again(world: World) -> None:
    done = push(world)
    gate = memory("gate")
    again = push(world)
    same = memory("gate").version

    later = push(world, LATER)

    assert (done.added, done.kept, done.stale, done.refused) == (2, 0, 0, ())
    assert (gate.source_uri, gate.source_line, gate.needs_review) == ("docs/mill.md", 3, True)
    assert gate.source_hash == done.note.digest
    assert (again.added, again.kept, again.note.version, same) == (0, 2, 1, gate.version)
    assert (later.added, later.kept, later.stale, later.note.version) == (1, 1, 1, 2)
    gone, moved = memory("gate"), memory("miller")
    assert (gone.verification, gone.archived_reason, gone.stale_at) == ("stale", GONE, world.now)
    assert (moved.source_line, moved.source_hash) == (3, later.note.digest)
    with tenancy.unit():
        texts = NoteVersion.objects.order_by("number").values_list("text", flat=True)
        assert list(texts) == [TEXT, LATER]
    push(world)
    back = memory("gate")
    assert (back.verification, back.archived_reason, back.stale_at) == ("unverified", "", None)
    assert memory("wheel").stale_at == world.now


def test_an_agent_that_removes_a_note_leaves_to_a_person_what_is_pinned(world: World) -> None:
    note = push(world).note
    with tenancy.unit():
        Memory.objects.filter(content__contains="gate").update(pinned=True, needs_review=False)

    done = remove_note(caller=as_agent(world.owner), note_id=note.id, now=world.now)

    assert (done.stale, done.held) == (1, 1)
    assert memory("gate").needs_review
    assert memory("miller").archived_reason == REMOVED
    assert queries.list_notes(caller=world.owner, project=world.store, limit=9) == ()
    assert push(world).note.version == 2
    assert memory("miller").stale_at is None


def test_too_long_and_wrongly_named_notes_are_refused(world: World) -> None:
    many = "".join(f"- The wheel {number} of the mill turns left.\n" for number in range(2_001))
    with pytest.raises(TooLarge):
        push(world, "x" * (LARGEST + 1))
    with pytest.raises(TooLarge) as refused:
        push(world, many)
    for path in ("", "a/../../b.md", "x" * 401):
        with pytest.raises(InvalidInput):
            push(world, path=path)

    assert "2000" in refused.value.hint


def test_notes_of_others_are_not_there(world: World) -> None:
    world.make_project("vault", open_to_all=False)
    hidden = push(world, project="vault").note
    own = push(world, scope="personal").note

    for note in (hidden, own):
        with pytest.raises(NotFound):
            queries.list_lines(caller=world.member, note_id=note.id, now=world.now)
        with pytest.raises(NotFound):
            remove_note(caller=world.member, note_id=note.id, now=world.now)
    assert queries.list_notes(caller=world.member, project=world.store, limit=9) == ()
    assert push(world, by=world.member).added == 2


@pytest.mark.parametrize(
    "given",
    [{"pinned": True}, {"user_verified": True}, {"governance": 2, "author_user": UUID(int=9)}],
)
def test_agent_makes_nothing_stale_that_people_hold(world: World, given: dict[str, Any]) -> None:
    push(world)
    with tenancy.unit():
        Memory.objects.filter(content__contains="gate").update(needs_review=False, **given)

    done = push(world, "# Mill\n\nThe wheel turns left.\n", by=as_agent(world.owner))

    gate = memory("gate")
    assert (done.stale, done.kept, done.held) == (1, 0, 1)
    assert (gate.stale_at, gate.needs_review, gate.archived_reason) == (None, True, HELD)


def held(world: World) -> Memory:
    """Let an agent push the note without what a person holds; return that memory."""
    push(world)
    with tenancy.unit():
        Memory.objects.filter(content__contains="gate").update(user_verified=True)
        Memory.objects.update(needs_review=False)
    push(world, LATER, by=as_agent(world.owner))
    return memory("gate")


def test_what_a_person_decided_of_what_is_gone_stands_until_it_comes_back(world: World) -> None:
    gate = held(world)
    push(world, by=as_agent(world.owner))
    waits = memory("gate")
    push(world, LATER, by=as_agent(world.owner))
    keep(caller=world.owner, memory_id=gate.id, now=world.now)

    again = push(world, f"{LATER}\nThe dam is old.\n")
    kept = memory("gate")
    push(world)
    back = memory("gate")

    assert (waits.needs_review, waits.archived_reason) == (False, "")  # its wait ended with it
    assert (again.stale, again.held, kept.stale_at, kept.needs_review) == (0, 0, None, False)
    assert back.archived_reason == ""
    assert push(world, LATER, by=as_agent(world.owner)).held == 1
    done = push(world, "# Mill\n\nThe wheel turns left.\n")  # a person may
    gate = memory("gate")
    assert (done.stale, done.held) == (2, 0)
    assert (gate.stale_at, gate.needs_review, gate.archived_reason) == (world.now, False, GONE)


def test_a_note_has_no_say_in_what_an_import_of_its_name_brought(world: World) -> None:
    push(world, LATER)
    with tenancy.unit():  # what is left is as an import brings it
        NoteVersion.objects.all().delete()

    first, second = push(world), push(world, "# Mill\n\nThe dam is old by now.\n")

    assert (first.kept, first.stale, second.stale) == (1, 0, 2)
    assert memory("wheel").stale_at is None
    assert memory("miller").archived_reason == GONE


@pytest.mark.parametrize("verification", ["verified", "contradicted"])
def test_what_people_found_is_known_when_it_comes_back(world: World, verification: str) -> None:
    push(world)
    with tenancy.unit():
        Memory.objects.filter(content__contains="gate").update(
            verification=verification, verified_at=world.now if verification == "verified" else None
        )

    push(world, LATER)
    gone = memory("gate").stale_at
    push(world)

    assert gone == world.now
    assert (memory("gate").verification, memory("gate").stale_at) == (verification, None)


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_statement_that_did_not_change_is_not_proposed_again(world: World, status: str) -> None:
    push(world)
    with tenancy.unit():
        Memory.objects.filter(content__contains="gate").update(status=status)

    done = push(world, f"{TEXT}\nThe wheel turns left.\n")

    assert (done.added, done.kept) == (1, 1)
    assert memory("gate").status == status


def confirmed(world: World) -> Memory:
    """Let a person say that what a note says of the gate is so; return the memory."""
    gate = memory("gate")
    confirm(caller=world.owner, memory_id=gate.id, now=world.now)
    assert memory("gate").user_verified
    return gate


def test_new_words_are_nobodys_confirmed(world: World) -> None:
    push(world)
    id = confirmed(world).id
    with tenancy.unit():  # of the same id, and of no note
        Memory.objects.filter(pk=id).update(source_hash="", content="It opens.", content_hash="x")
        NoteVersion.objects.all().delete()

    push(world, by=world.owner)

    after = memory("gate")
    assert (after.id, after.content) == (id, "The gate of the mill opens at nine.")
    assert (after.user_verified, after.verification) == (False, "unverified")
