"""Imports: seen before they are made, taken in by a job, run again without harm, and undone."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, Forbidden, InvalidInput, NotFound, TooLarge
from accounts.models import Job, Token
from memory.documents import queries
from memory.documents.actions import uploads
from memory.documents.actions.import_batches import (
    ImportUndone,
    begin_import,
    cancel_import,
    fail_import,
    retry_import,
    undo_import,
)
from memory.documents.actions.uploads import Upload, preview_import
from memory.documents.models import ImportRow
from memory.documents.queries import ImportView
from memory.intake.actions import apply_decision
from memory.intake.integrate import Decision
from memory.records.actions import confirm
from memory.records.models import Conflict as Settled
from memory.records.models import Memory, MemoryLink, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.tasks import job_handlers
from memory.taxonomy import LinkKind
from tests.support import memories, stored, work
from tests.support.memories import as_agent
from tests.support.reviewed import World
from tests.support.taking_in import RULES, active, run, upload

SECRET = "- The staging password is `hunter2Xq9!zLm4` and everybody knows it.\n"
GATE = "The gate of the mill opens at nine.\n"
VAULT = (
    ("vault/Taxes.md", b"# Taxes\n\nInvoices to France carry the buyer's rate, see [[Rates]].\n"),
    ("vault/Rates.md", b"# Rates\n\nThe table of rates is read from the tax office each night.\n"),
)
TUESDAY, THURSDAY, MONDAY = (
    f"Deploys happen on {day}s, when both teams are in."
    for day in ("Tuesday", "Thursday", "Monday")
)


def line(content: str) -> Upload:
    """Return a file with one row of its own id."""
    return upload(json.dumps([{"content": content, "external_id": "d"}]), name="a.json")


def begin(world: World, sent: Upload | None = None) -> ImportView:
    """Begin an import; of the rules unless something else is sent."""
    return begin_import(caller=world.owner, upload=sent or upload(), now=world.now)


def taken(world: World, sent: Upload | None = None, by: Caller | None = None) -> ImportView:
    """Begin an import and do its job as a worker does."""
    return run(by or world.owner, sent or upload(), world.now)


def state(world: World, batch_id: UUID) -> ImportView:
    """Return an import as it is now."""
    return queries.get_import(caller=world.owner, batch_id=batch_id, now=world.now)


def batch(world: World, id: UUID) -> tuple[str, Mapping[str, int]]:
    """Return the state of an import and the counts of its rows."""
    return state(world, id).state, dict(state(world, id).counts)


def with_token(world: World) -> tuple[Token, Caller]:
    """Make a token of the owner; return it, and the agent that has it."""
    token = Token.objects.create(
        organization_id=world.owner.organization_id, user_id=world.owner.user_id, name="ci",
        kind="personal", lookup="import-test", digest="x", last_four="abcd",
        scopes=["read", "write"], expires_at=timezone.now() + timedelta(days=9),
    )  # fmt: skip
    return token, as_agent(world.owner, token_id=token.id)


def undo(world: World, batch_id: UUID, by: Caller | None = None) -> ImportUndone:
    """Undo an import."""
    return undo_import(caller=by or world.owner, batch_id=batch_id, now=world.now)


def memory(about: str) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(content__contains=about)


def test_an_import_waits_for_review_and_a_preview_stores_nothing(world: World) -> None:
    before = stored.rows()
    seen = preview_import(caller=world.owner, upload=upload(RULES + SECRET))
    untouched = stored.rows() == before

    done = taken(world, upload(RULES + SECRET))

    (refused,) = [row for row in seen.rows if row.outcome == "refused"]
    assert (seen.counts, untouched) == ({"added": 3, "refused": 1}, True)
    assert (refused.gate, refused.line, refused.content) == ("secrets", 9, "")
    assert (done.state, dict(done.counts), done.to_review) == ("done", seen.counts, 3)
    with tenancy.unit():
        rows = list(Memory.objects.order_by("source_line"))
        kept = json.dumps(list(ImportRow.objects.values_list("candidate", "reason")))
    assert [row.source_line for row in rows] == [4, 5, 8]
    assert {(row.source, row.needs_review, row.source_uri, row.author_user) for row in rows} == {
        ("import", True, "CLAUDE.md", world.owner.user_id)
    }
    assert "hunter2" not in kept + repr(seen)


def test_a_changed_line_updates_its_memory_and_undoing_restores_it(world: World) -> None:
    first = taken(world)
    with tenancy.unit():
        Memory.objects.update(stated_at=world.now - timedelta(days=365))
    before = memory("Deploys")
    changed = RULES.replace("Tuesdays", "Thursdays")

    seen = preview_import(caller=world.owner, upload=upload(changed)).counts
    second = taken(world, upload(changed))

    after = memory("Deploys")
    assert (seen, second.counts) == ({"confirmed": 2, "updated": 1},) * 2
    assert (after.id, after.version) == (before.id, before.version + 1)
    assert "Thursdays" in after.content
    assert taken(world, upload(changed)).counts == {"confirmed": 3}
    assert undo(world, second.id).restored == 1
    again = memory("Deploys")
    assert (again.content, again.stated_at, len(active())) == (before.content, before.stated_at, 3)
    undo(world, first.id)
    assert active() == []


def test_what_an_agent_imports_for_a_persons_words_is_counted_and_undone(world: World) -> None:
    _, agent = with_token(world)
    world.stored(TUESDAY, external_id="d")
    first = taken(world, line(THURSDAY), agent)

    second = taken(world, line(MONDAY), agent)
    undone = undo(world, second.id)

    assert (first.counts, second.counts) == ({"proposed": 1}, {"proposed": 1})
    assert (undone.archived, undone.restored, undone.kept) == (1, 1, 0)
    with tenancy.unit():
        (waiting,) = Memory.objects.filter(status="active", needs_review=True)
    assert (waiting.content, waiting.confidence) == (THURSDAY, 0.8)
    assert taken(world, line(MONDAY), agent).counts == {"proposed": 1}


def test_what_people_vouched_for_keeps_its_words_and_the_new_ones_stand_beside(
    world: World,
) -> None:
    taken(world)
    with tenancy.unit():
        Memory.objects.filter(content__contains="Deploys").update(user_verified=True)

    later = taken(world, upload(RULES.replace("Tuesdays", "Thursdays")))

    assert later.counts == {"confirmed": 2, "added": 1}
    assert len([text for text in active() if "Deploys" in text]) == 2


def test_a_second_import_adds_and_confirms_nothing_and_changes_what_changed(world: World) -> None:
    taken(world)
    again = taken(world)
    with tenancy.unit():
        rows = set(Memory.objects.values_list("confirmations", "needs_review", "user_verified"))
        Memory.objects.all().delete()
    taken(world, line(TUESDAY))

    later = taken(world, line(THURSDAY))

    assert (dict(again.counts), rows) == ({"confirmed": 3}, {(0, True, False)})
    assert (dict(later.counts), active()) == ({"updated": 1}, [THURSDAY])
    undone = undo(world, later.id)
    assert (undone.restored, active()) == (1, [TUESDAY])


def test_links_between_notes_become_links_of_memories(world: World) -> None:
    taken(world, Upload(files=VAULT, project=world.store))

    with tenancy.unit():
        (link,) = MemoryLink.objects.select_related("source", "target")
        assert "Invoices to France" in link.source.content
        assert "table of rates" in link.target.content
        assert link.kind == "see_also"


def test_a_cancelled_import_takes_in_no_more(world: World) -> None:
    begun = begin(world)

    ended = cancel_import(caller=world.owner, batch_id=begun.id, now=world.now)
    job_handlers.take_in(work.taken(begun.job_id))

    assert (ended.state, dict(ended.counts), active()) == ("cancelled", {"cancelled": 3}, [])
    assert Job.objects.filter(state=Job.State.FAILED).count() == 0


def test_what_cannot_be_taken_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = upload('{"a":\n}', name="a.json")
    with pytest.raises(InvalidInput, match=r"a\.json:2") as refused:
        begin(world, broken)
    nowhere = replace(broken, project="nowhere")
    for act in (lambda: preview_import(caller=world.owner, upload=nowhere),
                lambda: begin(world, nowhere)):  # fmt: skip
        with pytest.raises(NotFound):
            act()
    monkeypatch.setattr(uploads, "LARGEST_UPLOAD", 10)
    with pytest.raises(TooLarge):
        preview_import(caller=world.owner, upload=upload())

    assert refused.value.errors[0].pointer == "/file"


def test_imports_of_others_are_not_there(world: World) -> None:
    world.make_project("vault", open_to_all=False)
    hidden = taken(world, replace(upload(), project="vault"))
    own = taken(world, replace(upload(), scope="personal"))

    for one in (hidden, own):
        place = {"caller": world.member, "batch_id": one.id, "now": world.now}
        with pytest.raises(NotFound):
            queries.list_rows(**place, after=0, limit=9)
        for ask in (queries.get_import, undo_import, cancel_import, retry_import):
            with pytest.raises(NotFound):
                ask(**place)
    told = queries.list_imports(
        caller=world.member, project=None, after=None, limit=9, now=world.now
    )
    assert told == ((), None)


def test_secrets_and_names_that_no_row_holds_are_neither_stored_nor_told(world: World) -> None:
    sent = upload(name="notes/password=hunter2Xq9!zLm4.md")
    seen, done = preview_import(caller=world.owner, upload=sent), taken(world, sent)

    assert "hunter2" not in repr((seen, done))
    assert set(done.counts) == {"refused"}
    for odd in ("\x00", "\ud800"):
        rows = [{"id": odd, "content": GATE}, {"content": f"The wheel turns left {ord(odd)}."}]
        done = taken(world, upload(json.dumps(rows), name="a.json"))
        assert (done.state, done.counts["refused"], sum(done.counts.values())) == ("done", 1, 2)


def test_names_by_which_others_link_are_kept_as_digests(world: World) -> None:
    secret = "Tr0ub4dor&3xyz"
    many = " ".join(f"[[n{number}]]" for number in range(300))
    note = f"---\naliases: [password={secret}]\n---\nThe mill: [[{secret}]] {many}.\n"
    rows = [{"id": f"password={secret}", "external_id": "a", "content": "The gate opens at nine."}]

    begin(world, upload(note, name="mill.md"))
    begin(world, upload(json.dumps(rows), name="a.json"))

    with tenancy.unit():
        kept = list(ImportRow.objects.values_list("candidate", flat=True))
    names = [one.get("keys", []) + [target for _, target in one.get("links", [])] for one in kept]
    assert len(names) == 2
    assert max(len(one.get("links", [])) for one in kept) == uploads.MOST_LINKS
    assert "tr0ub4dor" not in repr(names).lower()


# What fails: what is in stays, why is told, and it goes on where it stopped.


def test_a_job_that_died_halfway_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.documents.actions.import_batches.PART", 2)
    begun = begin(world)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "progress", die)
        with pytest.raises(KeyboardInterrupt):
            job_handlers.take_in(work.taken(begun.job_id))
    assert len(active()) == 2
    job_handlers.take_in(work.taken(begun.job_id))

    assert batch(world, begun.id) == ("done", {"added": 3})


@pytest.mark.parametrize("end", ["", "revoked_at", "expires_at"])
def test_import_of_a_token_goes_on_or_fails_once_that_ended(world: World, end: str) -> None:
    token, agent = with_token(world)
    if not end:
        assert run(agent, upload(), world.now).counts == {"added": 3}
        return
    begun = begin_import(caller=agent, upload=upload(), now=world.now)
    Token.objects.filter(pk=token.id).update(**{end: timezone.now() - timedelta(days=1)})

    with pytest.raises(jobs.PermanentFailure):
        job_handlers.take_in(work.taken(begun.job_id))

    failed = state(world, begun.id)
    assert (failed.state, active(), "token" in failed.error) == ("failed", [], True)
    assert undo(world, begun.id).batch.state == "undone"


def test_row_that_the_database_refuses_stops_no_other(world: World) -> None:
    begun = begin(world)

    def no_ledger(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "INSERT" in sql and "Never mock the ledger" in repr(params):
            return execute("SELECT 'ledger'::integer", None, False, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(no_ledger):
        job_handlers.take_in(work.taken(begun.job_id))

    assert batch(world, begun.id) == ("done", {"added": 2, "refused": 1})


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (Job.State.QUARANTINED, "Its worker stopped without finishing it."),
        (Job.State.CANCELLED, ""),
    ],
)
def test_import_that_failed_is_tried_again_or_undone(world: World, end: str, error: str) -> None:
    begun = begin(world)
    Job.objects.filter(pk=str(begun.job_id)).update(state=end, error=error)

    failed = state(world, begun.id)
    again = retry_import(caller=world.owner, batch_id=begun.id, now=world.now)
    job_handlers.take_in(work.taken(again.job_id))
    done = state(world, begun.id)
    other = begin(world, upload(GATE))
    Job.objects.filter(pk=str(other.job_id)).update(state=end)
    undone = undo(world, other.id)

    assert (failed.state, failed.error) == ("failed", error or "Its job was cancelled.")
    assert (again.state, again.error) == ("queued", "")
    assert (done.state, done.error, dict(done.counts)) == ("done", "", {"added": 3})
    assert undone.batch.state == "undone"


def test_only_an_import_that_failed_is_tried_again_by_a_new_job(world: World) -> None:
    begun = begin(world)
    for who, refusal in ((world.owner, Conflict), (world.member, Forbidden)):
        with pytest.raises(refusal):
            retry_import(caller=who, batch_id=begun.id, now=world.now)
    fail_import(batch_id=begun.id, reason="The project was archived.", now=world.now)
    Job.objects.filter(pk=str(begun.job_id)).delete()

    again = retry_import(caller=world.owner, batch_id=begun.id, now=world.now)

    assert again.job_id not in {None, begun.job_id}
    assert Job.objects.get(pk=again.job_id).state == Job.State.QUEUED


# What is undone: all as it was, but for what somebody has touched or decided since.


def test_undoing_leaves_everything_as_it_was_and_once(world: World) -> None:
    known = preview_import(caller=world.owner, upload=upload()).rows[-1].content
    before = world.stored(known)
    done = taken(world)

    undone = undo(world, done.id)

    assert (undone.archived, undone.kept, active()) == (2, 0, [known])
    with tenancy.unit():
        row = Memory.objects.get(pk=before.id)
        assert (row.confirmations, row.importance) == (before.confirmations, before.importance)
        reasons = Memory.objects.filter(status="archived").values_list("archived_reason")
        assert set(reasons) == {("the import was undone",)}
    assert dict(taken(world).counts) == {"added": 2, "confirmed": 1}
    with pytest.raises(Conflict):
        undo(world, done.id)


def test_undoing_leaves_what_somebody_has_touched_but_no_link_keeps_anything(world: World) -> None:
    done = taken(world)
    with tenancy.unit():
        touched, one, other = Memory.objects.order_by("content")
        MemoryLink.objects.create(source=one, target=other, kind="extend", confidence=1)
    edge = MemoryEdge(other_id=other.id, kind=LinkKind.EXTEND, outgoing=True)
    unlink(caller=world.owner, memory_id=one.id, edge=edge, now=world.now)
    confirm(caller=world.owner, memory_id=touched.id, now=world.now)

    undone = undo(world, done.id)

    assert (undone.archived, undone.kept, active()) == (2, 1, [touched.content])
    assert dict(undone.batch.counts) == {"undone": 2, "kept": 1}


def test_only_who_imported_or_a_steward_undoes(world: World) -> None:
    by_owner = taken(world)
    by_member = taken(world, upload(GATE), world.member)
    agent = memories.as_agent(replace(world.owner, role=Role.OWNER))

    for who, one in ((world.member, by_owner), (memories.as_agent(world.owner), by_member)):
        with pytest.raises(Forbidden):
            undo(world, one.id, who)

    assert undo(world, by_owner.id, agent).archived == 3
    assert undo(world, by_member.id).archived == 1


def test_row_that_cannot_be_brought_back_can_still_be_changed(world: World) -> None:
    taken(world, line(TUESDAY))
    again = taken(world, line(THURSDAY))
    changed = memory("Thursdays")
    world.stored(TUESDAY)

    undone = undo(world, again.id)
    world.say(changed, MONDAY, world.owner)

    assert (undone.restored, undone.kept, memory("Monday").id) == (0, 1, changed.id)


@pytest.mark.parametrize("by", ["conflict", "verdict"])
def test_undoing_leaves_what_people_have_decided(world: World, by: str) -> None:
    older = world.stored(memories.REDIS)
    done = taken(world, upload(GATE))
    chosen, later = memory("gate"), world.now + timedelta(hours=1)
    assert chosen.author_user is not None
    with tenancy.unit():
        if by == "conflict":
            Settled.objects.create(
                older_id=older.id, newer=chosen, audience=chosen.audience, kind="update",
                cause="same", found_at=later, verdict="keep_newer", settled_at=later,
            )  # fmt: skip
        else:
            ReviewVerdict.objects.create(
                memory=chosen, verdict="keep", decided_by=chosen.author_user, decided_at=later
            )

    undone = undo(world, done.id)

    assert (undone.archived, undone.kept) == (0, 1)
    assert chosen.content in active()


def test_undoing_leaves_replaced_what_somebody_has_added_again(world: World) -> None:
    old = world.stored(memories.REDIS)
    done = taken(world, upload(GATE))
    with tenancy.unit():
        added = Memory.objects.get(content__contains="gate")
        Memory.objects.filter(pk=old.id).update(status="superseded", superseded_by=added.id)
    again = world.stored(memories.REDIS)

    undone = undo(world, done.id)

    assert (undone.archived, undone.restored, undone.kept) == (1, 0, 1)
    assert active() == [again.content]


def replace_by_the_gate(world: World, old: MemoryView, until: datetime) -> float:
    """Let what was imported take the place of a memory; return the confidence it is left with."""
    reason = "It replaces what was true."
    decision = Decision(target_id=old.id, link=LinkKind.SUPERSEDES, reason=reason)
    with tenancy.unit():
        Memory.objects.filter(pk=old.id).update(valid_until=until)
        row, added = Memory.objects.get(pk=old.id), Memory.objects.get(content__contains="gate")
        given = {"caller": world.owner, "decision": decision, "now": world.now}
        apply_decision.carry_out(row=added, old=row, **given)
        return Memory.objects.get(pk=old.id).confidence


def test_undoing_brings_back_what_was_replaced_exactly_as_it_was(world: World) -> None:
    old = world.stored(memories.REDIS, confidence=0.83)
    until = world.now + timedelta(days=90)
    done = taken(world, upload(GATE))
    lowered = replace_by_the_gate(world, old, until)

    undone = undo(world, done.id)

    assert (lowered, undone.archived, undone.restored) == (0.3, 1, 1)
    with tenancy.unit():
        row = Memory.objects.get(pk=old.id)
        assert (row.status, row.confidence, row.valid_until) == ("active", 0.83, until)
        assert (row.archived_reason, row.superseded_by) == ("", None)
        assert not MemoryLink.objects.filter(target=row).exists()
