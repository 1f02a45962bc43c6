"""Imports: seen before they are made, taken in by a job, run again without harm, and undone."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, TooLarge
from accounts.models import Job
from memory.documents import queries
from memory.documents.actions import uploads
from memory.documents.actions.import_batches import begin_import, cancel_import, undo_import
from memory.documents.actions.uploads import Upload, preview_import
from memory.documents.models import ImportRow
from memory.records.models import Memory, MemoryLink
from memory.tasks import job_handlers
from teams.actions import create_project
from tests.support import stored, work
from tests.support.taking_in import RULES, active, run, upload

pytestmark = pytest.mark.usefixtures("store")

SECRET = "- The staging password is `hunter2Xq9!zLm4` and everybody knows it.\n"
VAULT = (
    ("vault/Taxes.md", b"# Taxes\n\nInvoices to France carry the buyer's rate, see [[Rates]].\n"),
    ("vault/Rates.md", b"# Rates\n\nThe table of rates is read from the tax office each night.\n"),
)


def test_a_preview_says_what_would_be_and_stores_nothing(caller: Caller) -> None:
    before = stored.rows()

    seen = preview_import(caller=caller, upload=upload(RULES + SECRET))

    assert seen.counts == {"added": 3, "refused": 1}
    assert [file.format for file in seen.files] == ["markdown"]
    (refused,) = [row for row in seen.rows if row.outcome == "refused"]
    assert (refused.gate, refused.line, refused.content) == ("secrets", 9, "")
    assert "hunter2" not in repr(seen)
    assert stored.rows() == before


def test_an_import_waits_for_review_under_its_source(caller: Caller, now: datetime) -> None:
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


def test_a_second_import_adds_nothing_and_confirms_nothing(caller: Caller, now: datetime) -> None:
    run(caller, upload(), now)

    again = run(caller, upload(), now)

    assert dict(again.counts) == {"confirmed": 3}
    with tenancy.unit():
        rows = Memory.objects.values_list("confirmations", "needs_review", "user_verified")
        assert set(rows) == {(0, True, False)}


def test_what_changed_is_changed_and_has_its_version(caller: Caller, now: datetime) -> None:
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


def test_left_out_rows_are_left_out(caller: Caller, now: datetime) -> None:
    done = run(caller, upload(left_out=frozenset({2})), now)

    assert dict(done.counts) == {"added": 2, "left_out": 1}


def test_a_cancelled_import_takes_in_no_more(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    ended = cancel_import(caller=caller, batch_id=begun.id, now=now)
    job_handlers.take_in(work.taken(begun.job_id))

    assert (ended.state, dict(ended.counts), active()) == ("cancelled", {"cancelled": 3}, [])
    assert Job.objects.filter(state=Job.State.FAILED).count() == 0


def test_a_file_of_which_nothing_can_be_taken_is_refused_with_its_place(
    caller: Caller, now: datetime
) -> None:
    with pytest.raises(InvalidInput) as refused:
        begin_import(caller=caller, upload=upload('{"a":\n}', name="a.json"), now=now)

    assert refused.value.errors[0].pointer == "/file"
    assert "a.json:2" in refused.value.detail


def test_too_much_at_once_is_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST_UPLOAD", 10)

    with pytest.raises(TooLarge):
        preview_import(caller=caller, upload=upload())


def test_a_secret_in_a_name_is_neither_stored_nor_told(caller: Caller, now: datetime) -> None:
    name = "notes/password=hunter2Xq9!zLm4.md"

    seen = preview_import(caller=caller, upload=upload(name=name))
    done = run(caller, upload(name=name), now)

    assert "hunter2" not in repr((seen, done))
    assert set(done.counts) == {"refused"}


def test_imports_of_others_are_not_there(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    hidden = run(caller, replace(upload(), project="vault"), now)
    own = run(caller, replace(upload(), scope="personal"), now)

    for batch in (hidden, own):
        for ask in (
            lambda id: queries.get_import(caller=member_caller, batch_id=id, now=now),
            lambda id: queries.list_rows(
                caller=member_caller, batch_id=id, after=0, limit=9, now=now
            ),
            lambda id: undo_import(caller=member_caller, batch_id=id, now=now),
            lambda id: cancel_import(caller=member_caller, batch_id=id, now=now),
        ):
            with pytest.raises(NotFound):
                ask(batch.id)
    assert (
        queries.list_imports(caller=member_caller, project=None, after=None, limit=9, now=now).items
        == ()
    )


@pytest.mark.parametrize("odd", ["\x00", "\ud800"])
def test_name_that_no_row_holds_stops_no_import(caller: Caller, now: datetime, odd: str) -> None:
    rows = [
        {"id": odd, "content": "The gate of the mill opens at nine."},
        {"content": "The wheel of the mill turns left."},
    ]

    done = run(caller, upload(json.dumps(rows), name="a.json"), now)

    assert (done.state, dict(done.counts)) == ("done", {"added": 1, "refused": 1})


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


def test_place_is_looked_for_before_anything_is_read(caller: Caller, now: datetime) -> None:
    sent = Upload(files=(("a.json", b"no JSON"),), project="nowhere")

    with pytest.raises(NotFound):
        preview_import(caller=caller, upload=sent)
    with pytest.raises(NotFound):
        begin_import(caller=caller, upload=sent, now=now)
