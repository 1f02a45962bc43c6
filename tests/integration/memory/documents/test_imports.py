"""Imports: seen before they are made, taken in by a job, run again without harm, and undone."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

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
    begin_import,
    cancel_import,
    fail_import,
    retry_import,
    undo_import,
)
from memory.documents.actions.uploads import Upload, preview_import
from memory.documents.models import ImportRow
from memory.intake.actions import apply_decision
from memory.intake.actions.revise import revise
from memory.intake.integrate import Decision
from memory.records.actions import confirm
from memory.records.models import Conflict as Settled
from memory.records.models import Memory, MemoryLink, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.tasks import job_handlers
from memory.taxonomy import LinkKind
from teams.actions import create_project
from tests.support import memories, stored, work
from tests.support.taking_in import RULES, active, run, upload

pytestmark = pytest.mark.usefixtures("store")

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


def batch(caller: Caller, id: Any, now: datetime) -> tuple[str, Mapping[str, int]]:
    """Return the state of an import and the counts of its rows."""
    found = queries.get_import(caller=caller, batch_id=id, now=now)
    return found.state, dict(found.counts)


def memory(about: str) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(content__contains=about)


def test_an_import_waits_for_review_under_its_source_and_a_preview_stores_nothing(
    caller: Caller, now: datetime
) -> None:
    before = stored.rows()
    seen = preview_import(caller=caller, upload=upload(RULES + SECRET))
    untouched = stored.rows() == before

    done = run(caller, upload(RULES + SECRET), now)

    (refused,) = [row for row in seen.rows if row.outcome == "refused"]
    assert (seen.counts, untouched) == ({"added": 3, "refused": 1}, True)
    assert (refused.gate, refused.line, refused.content) == ("secrets", 9, "")
    assert (done.state, dict(done.counts), done.to_review) == ("done", seen.counts, 3)
    with tenancy.unit():
        rows = list(Memory.objects.order_by("source_line"))
        kept = json.dumps(list(ImportRow.objects.values_list("candidate", "reason")))
    assert [row.source_line for row in rows] == [4, 5, 8]
    assert {(row.source, row.needs_review, row.source_uri, row.author_user) for row in rows} == {
        ("import", True, "CLAUDE.md", caller.user_id)
    }
    assert "hunter2" not in kept + repr(seen)


def test_a_second_import_adds_and_confirms_nothing_and_changes_what_changed(
    caller: Caller, now: datetime
) -> None:
    run(caller, upload(), now)
    again = run(caller, upload(), now)
    with tenancy.unit():
        rows = set(Memory.objects.values_list("confirmations", "needs_review", "user_verified"))
        Memory.objects.all().delete()
    run(caller, line(TUESDAY), now)

    later = run(caller, line(THURSDAY), now)

    assert (dict(again.counts), rows) == ({"confirmed": 3}, {(0, True, False)})
    assert (dict(later.counts), active()) == ({"updated": 1}, [THURSDAY])
    undone = undo_import(caller=caller, batch_id=later.id, now=now)
    assert (undone.restored, active()) == (1, [TUESDAY])


def test_links_between_notes_become_links_of_memories(
    caller: Caller, store: str, now: datetime
) -> None:
    run(caller, Upload(files=VAULT, project=store), now)

    with tenancy.unit():
        (link,) = MemoryLink.objects.select_related("source", "target")
        assert "Invoices to France" in link.source.content
        assert "table of rates" in link.target.content
        assert link.kind == "see_also"


def test_a_cancelled_import_takes_in_no_more(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    ended = cancel_import(caller=caller, batch_id=begun.id, now=now)
    job_handlers.take_in(work.taken(begun.job_id))

    assert (ended.state, dict(ended.counts), active()) == ("cancelled", {"cancelled": 3}, [])
    assert Job.objects.filter(state=Job.State.FAILED).count() == 0


def test_what_cannot_be_taken_is_refused_with_its_place_after_a_look_for_the_project(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = upload('{"a":\n}', name="a.json")
    with pytest.raises(InvalidInput, match=r"a\.json:2") as refused:
        begin_import(caller=caller, upload=broken, now=now)
    for begin in (preview_import, lambda **given: begin_import(**given, now=now)):
        with pytest.raises(NotFound):
            begin(caller=caller, upload=replace(broken, project="nowhere"))
    monkeypatch.setattr(uploads, "LARGEST_UPLOAD", 10)
    with pytest.raises(TooLarge):
        preview_import(caller=caller, upload=upload())

    assert refused.value.errors[0].pointer == "/file"


def test_imports_of_others_are_not_there(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    hidden = run(caller, replace(upload(), project="vault"), now)
    own = run(caller, replace(upload(), scope="personal"), now)

    for one in (hidden, own):
        place = {"caller": member_caller, "batch_id": one.id, "now": now}
        with pytest.raises(NotFound):
            queries.list_rows(**place, after=0, limit=9)
        for ask in (queries.get_import, undo_import, cancel_import, retry_import):
            with pytest.raises(NotFound):
                ask(**place)
    told = queries.list_imports(caller=member_caller, project=None, after=None, limit=9, now=now)
    assert told == ((), None)


def test_secrets_and_names_that_no_row_holds_are_neither_stored_nor_told(
    caller: Caller, now: datetime
) -> None:
    sent = upload(name="notes/password=hunter2Xq9!zLm4.md")
    seen, done = preview_import(caller=caller, upload=sent), run(caller, sent, now)

    assert "hunter2" not in repr((seen, done))
    assert set(done.counts) == {"refused"}
    for odd in ("\x00", "\ud800"):
        rows = [{"id": odd, "content": GATE}, {"content": f"The wheel turns left {ord(odd)}."}]
        done = run(caller, upload(json.dumps(rows), name="a.json"), now)
        assert (done.state, done.counts["refused"], sum(done.counts.values())) == ("done", 1, 2)


def test_names_by_which_others_link_are_kept_as_digests(caller: Caller, now: datetime) -> None:
    secret = "Tr0ub4dor&3xyz"
    many = " ".join(f"[[n{number}]]" for number in range(300))
    note = f"---\naliases: [password={secret}]\n---\nThe mill: [[{secret}]] {many}.\n"
    rows = [{"id": f"password={secret}", "external_id": "a", "content": "The gate opens at nine."}]

    begin_import(caller=caller, upload=upload(note, name="mill.md"), now=now)
    begin_import(caller=caller, upload=upload(json.dumps(rows), name="a.json"), now=now)

    with tenancy.unit():
        kept = list(ImportRow.objects.values_list("candidate", flat=True))
    names = [one.get("keys", []) + [target for _, target in one.get("links", [])] for one in kept]
    assert len(names) == 2
    assert max(len(one.get("links", [])) for one in kept) == uploads.MOST_LINKS
    assert "tr0ub4dor" not in repr(names).lower()


# What fails: what is in stays, why is told, and it goes on where it stopped.


def test_a_job_that_died_between_two_parts_goes_on(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.documents.actions.import_batches.PART", 2)
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "progress", die)
        with pytest.raises(KeyboardInterrupt):
            job_handlers.take_in(work.taken(begun.job_id))
    assert len(active()) == 2
    job_handlers.take_in(work.taken(begun.job_id))

    assert batch(caller, begun.id, now) == ("done", {"added": 3})


@pytest.mark.parametrize("end", ["", "revoked_at", "expires_at"])
def test_import_of_a_token_goes_on_or_fails_where_that_has_ended_and_says_so(
    caller: Caller, now: datetime, end: str
) -> None:
    assert caller.user_id is not None
    token = Token.objects.create(
        organization_id=caller.organization_id, user_id=caller.user_id, name="ci", kind="personal",
        lookup="import-test", digest="x", last_four="abcd", scopes=["read", "write"],
        expires_at=timezone.now() + timedelta(days=9),
    )  # fmt: skip
    agent = memories.as_agent(caller, token_id=token.id)
    if not end:
        assert run(agent, upload(), now).counts == {"added": 3}
        return
    begun = begin_import(caller=agent, upload=upload(), now=now)
    Token.objects.filter(pk=token.id).update(**{end: timezone.now() - timedelta(days=1)})

    with pytest.raises(jobs.PermanentFailure):
        job_handlers.take_in(work.taken(begun.job_id))

    failed = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    assert (failed.state, active(), "token" in failed.error) == ("failed", [], True)
    assert undo_import(caller=caller, batch_id=begun.id, now=now).batch.state == "undone"


def test_row_that_the_database_refuses_stops_no_other(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def no_ledger(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "INSERT" in sql and "Never mock the ledger" in repr(params):
            return execute("SELECT 'ledger'::integer", None, False, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(no_ledger):
        job_handlers.take_in(work.taken(begun.job_id))

    assert batch(caller, begun.id, now) == ("done", {"added": 2, "refused": 1})


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (Job.State.QUARANTINED, "Its worker stopped without finishing it."),
        (Job.State.CANCELLED, ""),
    ],
)
def test_import_whose_job_ended_without_success_says_why_and_is_tried_again_or_undone(
    caller: Caller, now: datetime, state: str, error: str
) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)
    Job.objects.filter(pk=str(begun.job_id)).update(state=state, error=error)

    failed = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    again = retry_import(caller=caller, batch_id=begun.id, now=now)
    job_handlers.take_in(work.taken(again.job_id))
    done = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    other = begin_import(caller=caller, upload=upload(GATE), now=now)
    Job.objects.filter(pk=str(other.job_id)).update(state=state)
    undone = undo_import(caller=caller, batch_id=other.id, now=now)

    assert (failed.state, failed.error) == ("failed", error or "Its job was cancelled.")
    assert (again.state, again.error) == ("queued", "")
    assert (done.state, done.error, dict(done.counts)) == ("done", "", {"added": 3})
    assert undone.batch.state == "undone"


def test_only_an_import_that_failed_is_tried_again_with_a_new_job_where_that_is_forgotten(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)
    for who, refusal in ((caller, Conflict), (member_caller, Forbidden)):
        with pytest.raises(refusal):
            retry_import(caller=who, batch_id=begun.id, now=now)
    fail_import(batch_id=begun.id, reason="The project was archived.", now=now)
    Job.objects.filter(pk=str(begun.job_id)).delete()

    again = retry_import(caller=caller, batch_id=begun.id, now=now)

    assert again.job_id not in {None, begun.job_id}
    assert Job.objects.get(pk=again.job_id).state == Job.State.QUEUED


# What is undone: all as it was, but for what somebody has touched or decided since.


def test_undoing_leaves_everything_as_it_was_and_once(
    caller: Caller, store: str, now: datetime
) -> None:
    known = preview_import(caller=caller, upload=upload()).rows[-1].content
    before = memories.stored(caller, now, known, project=store)
    done = run(caller, upload(), now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept, active()) == (2, 0, [known])
    with tenancy.unit():
        row = Memory.objects.get(pk=before.id)
        assert (row.confirmations, row.importance) == (before.confirmations, before.importance)
        reasons = Memory.objects.filter(status="archived").values_list("archived_reason")
        assert set(reasons) == {("the import was undone",)}
    assert dict(run(caller, upload(), now).counts) == {"added": 2, "confirmed": 1}
    with pytest.raises(Conflict):
        undo_import(caller=caller, batch_id=done.id, now=now)


def test_undoing_leaves_what_somebody_has_touched_but_no_link_keeps_anything(
    caller: Caller, now: datetime
) -> None:
    done = run(caller, upload(), now)
    with tenancy.unit():
        touched, one, other = Memory.objects.order_by("content")
        MemoryLink.objects.create(source=one, target=other, kind="extend", confidence=1)
    edge = MemoryEdge(other_id=other.id, kind=LinkKind.EXTEND, outgoing=True)
    unlink(caller=caller, memory_id=one.id, edge=edge, now=now)
    confirm(caller=caller, memory_id=touched.id, now=now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept, active()) == (2, 1, [touched.content])
    assert dict(undone.batch.counts) == {"undone": 2, "kept": 1}


def test_only_who_imported_or_a_steward_undoes(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    by_owner = run(caller, upload(), now)
    by_member = run(member_caller, upload(GATE), now)
    agent = memories.as_agent(replace(caller, role=Role.OWNER))

    for who, one in ((member_caller, by_owner), (memories.as_agent(caller), by_member)):
        with pytest.raises(Forbidden):
            undo_import(caller=who, batch_id=one.id, now=now)

    assert undo_import(caller=agent, batch_id=by_owner.id, now=now).archived == 3
    assert undo_import(caller=caller, batch_id=by_member.id, now=now).archived == 1


def test_row_that_cannot_be_brought_back_can_still_be_changed(
    caller: Caller, store: str, now: datetime
) -> None:
    run(caller, line(TUESDAY), now)
    again = run(caller, line(THURSDAY), now)
    changed = memory("Thursdays")
    memories.stored(caller, now, TUESDAY, project=store)

    undone = undo_import(caller=caller, batch_id=again.id, now=now)
    text = {"content": MONDAY}
    view = revise(caller=caller, memory_id=changed.id, changes=text, if_version=None, now=now)

    assert (undone.restored, undone.kept, view.content) == (0, 1, MONDAY)


@pytest.mark.parametrize("by", ["conflict", "verdict"])
def test_undoing_leaves_what_people_have_decided(
    caller: Caller, store: str, now: datetime, by: str
) -> None:
    older = memories.stored(caller, now, project=store)
    done = run(caller, upload(GATE), now)
    chosen, later = memory("gate"), now + timedelta(hours=1)
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

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (0, 1)
    assert chosen.content in active()


def test_undoing_leaves_replaced_what_somebody_has_added_again(
    caller: Caller, store: str, now: datetime
) -> None:
    old = memories.stored(caller, now, project=store)
    done = run(caller, upload(GATE), now)
    with tenancy.unit():
        added = Memory.objects.get(content__contains="gate")
        Memory.objects.filter(pk=old.id).update(status="superseded", superseded_by=added.id)
    again = memories.stored(caller, now, project=store)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.restored, undone.kept) == (1, 0, 1)
    assert active() == [again.content]


def replace_by_the_gate(caller: Caller, old: MemoryView, now: datetime, until: datetime) -> float:
    """Let what was imported take the place of a memory; return the confidence it is left with."""
    reason = "It replaces what was true."
    decision = Decision(target_id=old.id, link=LinkKind.SUPERSEDES, reason=reason)
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
    done = run(caller, upload(GATE), now)
    lowered = replace_by_the_gate(caller, old, now, until)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (lowered, undone.archived, undone.restored) == (0.3, 1, 1)
    with tenancy.unit():
        row = Memory.objects.get(pk=old.id)
        assert (row.status, row.confidence, row.valid_until) == ("active", 0.83, until)
        assert (row.archived_reason, row.superseded_by) == ("", None)
        assert not MemoryLink.objects.filter(target=row).exists()
