"""Imports taken back: all as it was, but for what somebody has touched or decided since."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, Forbidden
from memory.documents.actions.import_batches import undo_import
from memory.documents.actions.uploads import preview_import
from memory.intake.actions import apply_decision
from memory.intake.actions.revise import revise
from memory.intake.integrate import Decision, Operation
from memory.records.actions import confirm
from memory.records.models import Conflict as Settled
from memory.records.models import Memory, MemoryLink, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.taxonomy import LinkKind
from tests.support import memories
from tests.support.taking_in import active, run, upload

pytestmark = pytest.mark.usefixtures("store")


def test_undoing_leaves_everything_as_it_was(caller: Caller, store: str, now: datetime) -> None:
    known = preview_import(caller=caller, upload=upload()).rows[-1].content
    before = memories.stored(caller, now, known, project=store)
    done = run(caller, upload(), now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (2, 0)
    assert active() == [known]
    with tenancy.unit():
        row = Memory.objects.get(pk=before.id)
        assert (row.confirmations, row.importance) == (before.confirmations, before.importance)
        reasons = Memory.objects.filter(status="archived").values_list("archived_reason")
        assert set(reasons) == {("the import was undone",)}


def test_undoing_leaves_what_somebody_has_touched(caller: Caller, now: datetime) -> None:
    done = run(caller, upload(), now)
    with tenancy.unit():
        touched = Memory.objects.order_by("content").first()
    assert touched is not None
    confirm(caller=caller, memory_id=touched.id, now=now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (2, 1)
    assert active() == [touched.content]
    assert dict(undone.batch.counts) == {"undone": 2, "kept": 1}


def test_a_link_that_was_taken_back_keeps_nothing_of_an_import(
    caller: Caller, now: datetime
) -> None:
    done = run(caller, upload(), now)
    with tenancy.unit():
        one, other = Memory.objects.order_by("content")[:2]
        MemoryLink.objects.create(source=one, target=other, kind="extend", confidence=1)
    edge = MemoryEdge(other_id=other.id, kind=LinkKind.EXTEND, outgoing=True)
    unlink(caller=caller, memory_id=one.id, edge=edge, now=now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (3, 0)


def test_what_was_undone_can_be_imported_again(caller: Caller, now: datetime) -> None:
    done = run(caller, upload(), now)
    undo_import(caller=caller, batch_id=done.id, now=now)

    again = run(caller, upload(), now)

    assert dict(again.counts) == {"added": 3}
    with pytest.raises(Conflict):
        undo_import(caller=caller, batch_id=done.id, now=now)


def test_only_who_imported_or_a_steward_undoes(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    by_owner = run(caller, upload(), now)
    by_member = run(member_caller, upload("The gate of the mill opens at nine.\n"), now)
    agent = memories.as_agent(replace(caller, role=Role.OWNER))

    for who, batch in ((member_caller, by_owner), (memories.as_agent(caller), by_member)):
        with pytest.raises(Forbidden):
            undo_import(caller=who, batch_id=batch.id, now=now)

    assert undo_import(caller=agent, batch_id=by_owner.id, now=now).archived == 3
    assert undo_import(caller=caller, batch_id=by_member.id, now=now).archived == 1


def test_row_that_cannot_be_brought_back_can_still_be_changed(
    caller: Caller, store: str, now: datetime
) -> None:
    line = {"content": "Deploys happen on Tuesdays, when both teams are in.", "external_id": "d"}
    later = {**line, "content": "Deploys happen on Thursdays, when both teams are in."}
    run(caller, upload(json.dumps([line]), name="a.json"), now)
    again = run(caller, upload(json.dumps([later]), name="a.json"), now)
    with tenancy.unit():
        changed = Memory.objects.get(external_id="d")
    memories.stored(caller, now, line["content"], project=store)

    undone = undo_import(caller=caller, batch_id=again.id, now=now)
    text = {"content": "Deploys happen on Mondays, when both teams are in."}
    view = revise(caller=caller, memory_id=changed.id, changes=text, if_version=None, now=now)

    assert (undone.restored, undone.kept) == (0, 1)
    assert view.content == text["content"]


def decide(about: Memory, older: MemoryView, by: str, now: datetime) -> None:
    """Decide about a memory as people do, in the inbox or between two of them."""
    if by == "conflict":
        Settled.objects.create(
            older_id=older.id, newer=about, audience=about.audience, kind="update",
            cause="same", found_at=now, verdict="keep_newer", settled_at=now,
        )  # fmt: skip
        return
    assert about.author_user is not None
    ReviewVerdict.objects.create(
        memory=about, verdict="keep", decided_by=about.author_user, decided_at=now
    )


@pytest.mark.parametrize("by", ["conflict", "verdict"])
def test_undoing_leaves_what_people_have_decided(
    caller: Caller, store: str, now: datetime, by: str
) -> None:
    older = memories.stored(caller, now, project=store)
    done = run(caller, upload("The gate of the mill opens at nine.\n"), now)
    with tenancy.unit():
        chosen = Memory.objects.get(content__contains="gate")
        decide(chosen, older, by, now + timedelta(hours=1))

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (0, 1)
    assert chosen.content in active()


def test_undoing_leaves_replaced_what_somebody_has_added_again(
    caller: Caller, store: str, now: datetime
) -> None:
    old = memories.stored(caller, now, project=store)
    done = run(caller, upload("The gate of the mill opens at nine.\n"), now)
    with tenancy.unit():
        added = Memory.objects.get(content__contains="gate")
        Memory.objects.filter(pk=old.id).update(status="superseded", superseded_by=added.id)
    again = memories.stored(caller, now, project=store)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.restored, undone.kept) == (1, 0, 1)
    assert active() == [again.content]


def replace_by_the_gate(caller: Caller, old: MemoryView, now: datetime, until: datetime) -> float:
    """Let what was imported take the place of a memory; return the confidence it is left with."""
    decision = Decision(
        operation=Operation.UPDATE, target_id=old.id, link=LinkKind.SUPERSEDES, is_conflict=False,
        reason="It replaces what was true.",
    )  # fmt: skip
    with tenancy.unit():
        Memory.objects.filter(pk=old.id).update(valid_until=until)
        row, added = Memory.objects.get(pk=old.id), Memory.objects.get(content__contains="gate")
        apply_decision.carry_out(caller=caller, row=added, old=row, decision=decision, now=now)
        return Memory.objects.get(pk=old.id).confidence


def test_undoing_brings_back_what_was_replaced_exactly_as_it_was(
    caller: Caller, store: str, now: datetime
) -> None:
    old = memories.stored(caller, now, project=store, confidence=0.83)
    until = now + timedelta(days=90)
    done = run(caller, upload("The gate of the mill opens at nine.\n"), now)
    lowered = replace_by_the_gate(caller, old, now, until)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (lowered, undone.archived, undone.restored) == (0.3, 1, 1)
    with tenancy.unit():
        row = Memory.objects.get(pk=old.id)
        assert (row.status, row.confidence, row.valid_until) == ("active", 0.83, until)
        assert (row.archived_reason, row.superseded_by) == ("", None)
        assert not MemoryLink.objects.filter(target=row).exists()
