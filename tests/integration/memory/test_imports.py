"""Imports: seen before they are made, taken in by a job, run again without harm, and undone."""

import json
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
from memory import tasks
from memory.actions import importing
from memory.actions.begin_import import begin_import
from memory.actions.cancel_import import cancel_import
from memory.actions.confirm import confirm
from memory.actions.importing import Upload
from memory.actions.preview_import import preview_import
from memory.actions.revise import revise
from memory.actions.undo_import import undo_import
from memory.models import Conflict as Settled
from memory.models import ImportRow, Memory, MemoryLink, ReviewVerdict
from memory.queries import imports
from memory.queries.imports import ImportView
from memory.queries.views import MemoryView
from teams.actions.projects import create_project
from tests.support import memories, stored, work

pytestmark = pytest.mark.usefixtures("in_organization")

RULES = """# Shop

## Testing
- Run `make test` before every push, since the hooks do not.
- Never mock the ledger because its rounding is what we test.

## Deploying
- Deploys happen on Tuesdays, when both teams are in.
"""
SECRET = "- The staging password is `hunter2Xq9!zLm4` and everybody knows it.\n"
VAULT = (
    ("vault/Taxes.md", b"# Taxes\n\nInvoices to France carry the buyer's rate, see [[Rates]].\n"),
    ("vault/Rates.md", b"# Rates\n\nThe table of rates is read from the tax office each night.\n"),
)


def upload(text: str = RULES, *, name: str = "CLAUDE.md", **given: Any) -> Upload:
    return Upload(files=((name, text.encode()),), project="store", **given)


def run(caller: Caller, sent: Upload, now: datetime) -> ImportView:
    """Begin an import and do its job as a worker does."""
    begun = begin_import(caller=caller, upload=sent, now=now)
    tasks.take_in(work.taken(begun.job_id))
    return imports.batch(caller=caller, batch_id=begun.id)


def active() -> list[str]:
    with tenancy.unit():
        rows = Memory.objects.filter(status="active").order_by("content")
        return list(rows.values_list("content", flat=True))


def test_a_preview_says_what_would_be_and_stores_nothing(caller: Caller, store: str) -> None:
    before = stored.rows()

    seen = preview_import(caller=caller, upload=upload(RULES + SECRET))

    assert seen.counts == {"added": 3, "refused": 1}
    assert [file.format for file in seen.files] == ["markdown"]
    (refused,) = [row for row in seen.rows if row.outcome == "refused"]
    assert (refused.gate, refused.line, refused.content) == ("secrets", 9, "")
    assert "hunter2" not in repr(seen)
    assert stored.rows() == before


def test_an_import_waits_for_review_under_its_source(
    caller: Caller, store: str, now: datetime
) -> None:
    done = run(caller, upload(RULES + SECRET), now)

    assert (done.state, dict(done.counts), done.to_review) == (
        "done",
        {"added": 3, "refused": 1},
        3,
    )
    with tenancy.unit():
        rows = list(Memory.objects.order_by("source_line"))
        kept = json.dumps(list(ImportRow.objects.values_list("candidate", "reason")))
    assert {(row.source, row.needs_review, row.source_uri) for row in rows} == {
        ("import", True, "CLAUDE.md")
    }
    assert [row.source_line for row in rows] == [4, 5, 8]
    assert {row.author_user for row in rows} == {caller.user_id}
    assert "hunter2" not in kept


def test_a_second_import_adds_nothing_and_confirms_nothing(
    caller: Caller, store: str, now: datetime
) -> None:
    run(caller, upload(), now)

    again = run(caller, upload(), now)

    assert dict(again.counts) == {"confirmed": 3}
    with tenancy.unit():
        rows = Memory.objects.values_list("confirmations", "needs_review", "user_verified")
        assert set(rows) == {(0, True, False)}


def test_what_changed_is_changed_and_has_its_version(
    caller: Caller, store: str, now: datetime
) -> None:
    line = {"content": "Deploys happen on Tuesdays, when both teams are in.", "external_id": "d"}
    later = {**line, "content": "Deploys happen on Thursdays, when both teams are in."}
    run(caller, upload(json.dumps([line]), name="a.json"), now)

    again = run(caller, upload(json.dumps([later]), name="a.json"), now)

    assert dict(again.counts) == {"updated": 1}
    assert active() == [later["content"]]
    undone = undo_import(caller=caller, batch_id=again.id, now=now)
    assert (undone.restored, active()) == (1, [line["content"]])


def test_links_between_notes_become_links_of_memories(
    caller: Caller, store: str, now: datetime
) -> None:
    run(caller, Upload(files=VAULT, project=store), now)

    with tenancy.unit():
        (link,) = MemoryLink.objects.select_related("source", "target")
        assert "Invoices to France" in link.source.content
        assert "table of rates" in link.target.content
        assert link.kind == "see_also"


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


def test_undoing_leaves_what_somebody_has_touched(
    caller: Caller, store: str, now: datetime
) -> None:
    done = run(caller, upload(), now)
    with tenancy.unit():
        touched = Memory.objects.order_by("content").first()
    assert touched is not None
    confirm(caller=caller, memory_id=touched.id, now=now)

    undone = undo_import(caller=caller, batch_id=done.id, now=now)

    assert (undone.archived, undone.kept) == (2, 1)
    assert active() == [touched.content]
    assert dict(undone.batch.counts) == {"undone": 2, "kept": 1}


def test_what_was_undone_can_be_imported_again(caller: Caller, store: str, now: datetime) -> None:
    done = run(caller, upload(), now)
    undo_import(caller=caller, batch_id=done.id, now=now)

    again = run(caller, upload(), now)

    assert dict(again.counts) == {"added": 3}
    with pytest.raises(Conflict):
        undo_import(caller=caller, batch_id=done.id, now=now)


def test_left_out_rows_are_left_out(caller: Caller, store: str, now: datetime) -> None:
    done = run(caller, upload(left_out=frozenset({2})), now)

    assert dict(done.counts) == {"added": 2, "left_out": 1}


def test_a_cancelled_import_takes_in_no_more(caller: Caller, store: str, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    ended = cancel_import(caller=caller, batch_id=begun.id, now=now)
    tasks.take_in(work.taken(begun.job_id))

    assert (ended.state, dict(ended.counts), active()) == ("cancelled", {"cancelled": 3}, [])
    assert Job.objects.filter(state=Job.State.FAILED).count() == 0


def test_a_job_that_died_between_two_parts_goes_on(
    caller: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.actions.run_import.PART", 2)
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def die(**_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "progress", die)
        with pytest.raises(KeyboardInterrupt):
            tasks.take_in(work.taken(begun.job_id))
    assert len(active()) == 2
    tasks.take_in(work.taken(begun.job_id))

    assert dict(imports.batch(caller=caller, batch_id=begun.id).counts) == {"added": 3}


def test_only_who_imported_or_a_steward_undoes(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    by_owner = run(caller, upload(), now)
    by_member = run(member_caller, upload("The gate of the mill opens at nine.\n"), now)
    agent = memories.as_agent(replace(caller, role=Role.OWNER))

    for who, batch in ((member_caller, by_owner), (memories.as_agent(caller), by_member)):
        with pytest.raises(Forbidden):
            undo_import(caller=who, batch_id=batch.id, now=now)

    assert undo_import(caller=agent, batch_id=by_owner.id, now=now).archived == 3
    assert undo_import(caller=caller, batch_id=by_member.id, now=now).archived == 1


def test_a_file_of_which_nothing_can_be_taken_is_refused_with_its_place(
    caller: Caller, store: str, now: datetime
) -> None:
    with pytest.raises(InvalidInput) as refused:
        begin_import(caller=caller, upload=upload('{"a":\n}', name="a.json"), now=now)

    assert refused.value.errors[0].pointer == "/file"
    assert "a.json:2" in refused.value.detail


def test_too_much_at_once_is_refused(
    caller: Caller, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LARGEST_UPLOAD", 10)

    with pytest.raises(TooLarge):
        preview_import(caller=caller, upload=upload())


def test_a_secret_in_a_name_is_neither_stored_nor_told(
    caller: Caller, store: str, now: datetime
) -> None:
    name = "notes/password=hunter2Xq9!zLm4.md"

    seen = preview_import(caller=caller, upload=upload(name=name))
    done = run(caller, upload(name=name), now)

    assert "hunter2" not in repr((seen, done))
    assert set(done.counts) == {"refused"}


def test_imports_of_others_are_not_there(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    hidden = run(caller, replace(upload(), project="vault"), now)
    own = run(caller, replace(upload(), scope="personal"), now)

    for batch in (hidden, own):
        for ask in (
            lambda id: imports.batch(caller=member_caller, batch_id=id),
            lambda id: imports.rows(caller=member_caller, batch_id=id, after=0, limit=9, now=now),
            lambda id: undo_import(caller=member_caller, batch_id=id, now=now),
            lambda id: cancel_import(caller=member_caller, batch_id=id, now=now),
        ):
            with pytest.raises(NotFound):
                ask(batch.id)
    assert imports.page(caller=member_caller, project=None, after=None, limit=9).items == ()


@pytest.mark.parametrize("odd", ["\x00", "\ud800"])
def test_name_that_no_row_holds_stops_no_import(
    caller: Caller, store: str, now: datetime, odd: str
) -> None:
    rows = [
        {"id": odd, "content": "The gate of the mill opens at nine."},
        {"content": "The wheel of the mill turns left."},
    ]

    done = run(caller, upload(json.dumps(rows), name="a.json"), now)

    assert (done.state, dict(done.counts)) == ("done", {"added": 1, "refused": 1})


def test_names_by_which_others_link_are_kept_as_digests(
    caller: Caller, store: str, now: datetime
) -> None:
    secret = "Tr0ub4dor&3xyz"
    note = f"---\naliases: [password={secret}]\n---\nThe mill is by the river, [[{secret}]].\n"
    rows = [{"id": f"password={secret}", "external_id": "a", "content": "The gate opens at nine."}]

    begin_import(caller=caller, upload=upload(note, name="mill.md"), now=now)
    begin_import(caller=caller, upload=upload(json.dumps(rows), name="a.json"), now=now)

    with tenancy.unit():
        kept = list(ImportRow.objects.values_list("candidate", flat=True))
    names = [one.get("keys", []) + [target for _, target in one.get("links", [])] for one in kept]
    assert len(names) == 2
    assert "tr0ub4dor" not in repr(names).lower()


def test_very_many_links_of_one_statement_are_bounded(
    caller: Caller, store: str, now: datetime
) -> None:
    links = " ".join(f"[[n{number}]]" for number in range(300))

    begin_import(
        caller=caller, upload=upload(f"The wheel of the mill turns left, see {links}.\n"), now=now
    )

    with tenancy.unit():
        assert len(ImportRow.objects.get().candidate["links"]) == importing.MOST_LINKS


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


def test_place_is_looked_for_before_anything_is_read(caller: Caller, now: datetime) -> None:
    sent = Upload(files=(("a.json", b"no JSON"),), project="nowhere")

    with pytest.raises(NotFound):
        preview_import(caller=caller, upload=sent)
    with pytest.raises(NotFound):
        begin_import(caller=caller, upload=sent, now=now)


@pytest.fixture
def token(caller: Caller, now: datetime) -> Token:
    """A token of the owner's that is good."""
    assert caller.user_id is not None
    return Token.objects.create(
        organization_id=caller.organization_id, user_id=caller.user_id, name="ci", kind="personal",
        lookup="import-test", digest="x", last_four="abcd", scopes=["read", "write"],
        expires_at=timezone.now() + timedelta(days=9),
    )  # fmt: skip


@pytest.mark.parametrize("end", ["revoked_at", "expires_at"])
def test_import_of_a_token_that_has_ended_fails_and_says_so(
    caller: Caller, store: str, now: datetime, token: Token, end: str
) -> None:
    agent = memories.as_agent(caller, token_id=token.id)
    begun = begin_import(caller=agent, upload=upload(), now=now)
    Token.objects.filter(pk=token.id).update(**{end: timezone.now() - timedelta(days=1)})

    with pytest.raises(jobs.PermanentFailure):
        tasks.take_in(work.taken(begun.job_id))

    failed = imports.batch(caller=caller, batch_id=begun.id)
    assert (failed.state, active()) == ("failed", [])
    assert "token" in failed.error
    assert undo_import(caller=caller, batch_id=begun.id, now=now).batch.state == "undone"


def test_import_of_a_token_that_is_good_goes_on(
    caller: Caller, store: str, now: datetime, token: Token
) -> None:
    done = run(memories.as_agent(caller, token_id=token.id), upload(), now)

    assert (done.state, dict(done.counts)) == ("done", {"added": 3})


def test_row_that_the_database_refuses_stops_no_other(
    caller: Caller, store: str, now: datetime
) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def no_ledger(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "INSERT" in sql and "Never mock the ledger" in repr(params):
            return execute("SELECT 'ledger'::integer", None, False, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(no_ledger):
        tasks.take_in(work.taken(begun.job_id))

    done = imports.batch(caller=caller, batch_id=begun.id)
    assert (done.state, dict(done.counts)) == ("done", {"added": 2, "refused": 1})
