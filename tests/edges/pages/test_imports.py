"""Imports and notes: looked at, taken in and back; the review of what came."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.models import Job
from memory.documents import queries
from memory.documents.models import ImportRow
from memory.documents.queries import ImportView, imported_memories
from memory.index.actions import embedding
from memory.intake.actions.apply_decision import ReplacementShare, integrate_stored
from memory.records.queries.pending import Group
from memory.review.actions.verdicts import snooze
from memory.review.queries import inbox
from memory.tasks import job_handlers
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import work
from tests.support.waiting import waiting

RULES = b"# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = b"\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"
OLD = "The gate of the mill in `mill/gate.py` opens 8 times a day before it is locked."
NEW = b"# Mill\n\nThe gate of the mill in `mill/gate.py` opens 9 times a day before it is locked.\n"
OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
HERE = "/o/acme/p/shop/imports"
INBOX = "/o/acme/p/shop/inbox"


def rules(text: bytes = RULES) -> SimpleUploadedFile:
    return SimpleUploadedFile("mill.md", text)


def the_import(caller: Caller) -> ImportView:
    """Return the newest import."""
    now = datetime.now(UTC)
    with entered(caller):
        found, _last = queries.list_imports(
            caller=caller, project="shop", after=None, limit=1, now=now
        )
    return found[0]


def take_in(pages: Pages, text: bytes = RULES, **form: str) -> ImportView:
    """Take a file in, and return the import."""
    pages.owner.post(HERE, {"file": rules(text), **form})
    with entered(pages.caller):
        job_handlers.take_in(work.taken(the_import(pages.caller).job_id))
    return the_import(pages.caller)


def counts(caller: Caller, batch: ImportView, project: str | None = "shop") -> inbox.InboxCounts:
    """Return what waits of an import."""
    with entered(caller):
        imported = imported_memories(caller=caller, batch_id=batch.id)
        now = datetime.now(UTC)
        return inbox.count_waiting(caller=caller, project=project, imported=imported, now=now)


def ids(caller: Caller, batch: ImportView) -> tuple[UUID, ...]:
    """Return the memories that wait of an import; inside of the tenant."""
    narrowed: dict[str, Any] = {"project": None, "group": None, "most": 9}
    imported = imported_memories(caller=caller, batch_id=batch.id)
    return inbox.waiting_ids(caller=caller, imported=imported, now=datetime.now(UTC), **narrowed)


@pytest.fixture
def other(shop: str, caller: Caller) -> str:
    """The id of what waits and came with no import."""
    with entered(caller):
        return str(waiting(caller, datetime.now(UTC), OTHER, project="shop").id)


@pytest.fixture
def taken(pages: Pages) -> ImportView:
    """An import that was taken in."""
    return take_in(pages)


def test_a_file_is_looked_at_with_nothing_stored_and_a_row_that_is_not_kept_left_out(
    pages: Pages,
) -> None:
    text = pages.owner.post(f"{HERE}/look", {"file": rules(RULES + SECRET)}, **HTMX).text
    with entered(pages.caller), tenancy.unit():
        before = ImportRow.objects.count()
    sent = {"file": rules(), "offered": "1,2", "keep": ["2"], "scope": "project"}

    answer = pages.owner.post(HERE, sent)

    assert "2 added · 1 refused" in text
    assert "mill.md: Markdown" in text
    assert text.count('name="keep"') == 2
    assert ("hunter2" in text, before) == (False, 0)
    found = the_import(pages.caller)
    assert answer["Location"] == f"{HERE}/{found.id}"
    assert dict(found.counts) == {"left_out": 1, "waiting": 1}


def test_an_import_shows_its_rows_and_is_taken_back(pages: Pages) -> None:
    pasted = "The wheel of the mill turns left."
    found = take_in(pages, RULES + SECRET, pasted=pasted)

    shown = pages.owner.get(f"{HERE}/{found.id}").text
    pages.owner.post(f"{HERE}/{found.id}/change", {"verb": "undo"})
    after = pages.owner.get(f"{HERE}/{found.id}").text

    assert "3 added · 1 refused" in shown
    assert "The miller has the only key to it." in shown
    assert "hunter2" not in shown
    assert "1 refused · 3 undone" in after


def test_the_list_is_exported_with_its_filter(pages: Pages) -> None:
    remembered(pages.caller, "The gate jams in hard frost.", type="gotcha")
    remembered(pages.caller, "The mill grinds rye only.", type="fact")

    answer = pages.owner.post("/o/acme/p/shop/export", {"format": "csv", "q": "type:gotcha"})

    lines = answer.getvalue().decode().splitlines()
    assert answer["Content-Disposition"].startswith('attachment; filename="shop-')
    assert len(lines) == 2
    assert "hard frost" in lines[1]


def test_what_waits_of_an_import_is_kept_at_once_and_taken_back(
    pages: Pages, taken: ImportView
) -> None:
    at = f"{HERE}/{taken.id}"

    kept = pages.owner.post(f"{at}/change", {"verb": "keep", "count": "2"})
    left = the_import(pages.caller).to_review
    text = pages.owner.get(kept["Location"]).text
    review = kept["Location"].partition("decided=")[2]
    back = pages.owner.post(f"{at}/change", {"verb": "take_back", "review": review})

    assert f'name="review" value="{review}"' in text
    assert (left, back["Location"], the_import(pages.caller).to_review) == (0, at, 2)


def test_a_failed_import_says_why_and_is_tried_again(pages: Pages) -> None:
    pages.owner.post(HERE, {"file": rules()})
    found = the_import(pages.caller)
    at, reason = f"{HERE}/{found.id}", "Its worker stopped without finishing it."
    Job.objects.filter(pk=str(found.job_id)).update(state="quarantined", error=reason)

    text = pages.owner.get(at).text
    again = pages.owner.post(f"{at}/change", {"verb": "retry"})

    assert reason in text
    assert 'value="retry"' in text
    assert (again["Location"], the_import(pages.caller).state) == (at, "queued")


def test_the_inbox_narrows_to_what_came_with_an_import_and_a_verdict_leads_to_its_next(
    pages: Pages, other: str, taken: ImportView
) -> None:
    page = pages.owner.get(INBOX, {"import": str(taken.id)}).text
    whole = pages.owner.get(INBOX).text
    groups, others = (
        pages.owner.get(f"{INBOX}/groups?group={group}").text for group in ("imports", "new")
    )

    assert (page.count('role="listitem"'), whole.count('role="listitem"')) == (2, 3)
    assert f"row-{other}" not in page
    assert f"group=&amp;import={taken.id}" in page
    assert 'aria-current="page"><span class="clip">mill.md' in page
    assert [f"{INBOX}?import={taken.id}" in text for text in (groups, others)] == [True, False]
    with entered(pages.caller):
        first, second = ids(pages.caller, taken)
    shown = pages.owner.post(f"{INBOX}/{first}/keep?group=imports&import={taken.id}", **HTMX)
    assert f'data-memory="{second}"' in shown.text
    assert f"group=imports&import={taken.id}" in shown["HX-Trigger"]


def test_the_page_of_an_import_leads_to_as_many_as_it_says(
    pages: Pages, other: str, taken: ImportView
) -> None:
    now = datetime.now(UTC)
    with entered(pages.caller):
        (one, _) = ids(pages.caller, taken)
        until = now.replace(year=now.year + 1)
        snooze(caller=pages.caller, memory_id=one, until=until, now=now)

    page = pages.owner.get(f"{HERE}/{taken.id}").text

    assert f'{INBOX}?import={taken.id}">Review 1 memory<' in page
    assert (taken.to_review, the_import(pages.caller).to_review) == (2, 1)
    assert counts(pages.caller, taken).total == 1


def test_what_waits_of_an_import_is_decided_at_once(
    pages: Pages, other: str, taken: ImportView
) -> None:
    address = f"{INBOX}/bulk?group=&import={taken.id}"

    asked = pages.owner.get(address).text
    pages.owner.post(address, {"whole": "1", "verb": "keep", "count": "2"})
    left = pages.owner.get(INBOX).text.count('role="listitem"')
    empty = pages.owner.get(INBOX, {"import": str(taken.id)}).text

    assert "2 memories need review." in asked
    assert (counts(pages.caller, taken).total, left) == (0, 1)
    assert "No memories of this import need review" in empty


def test_the_conflicts_that_an_import_brought_wait_with_it(pages: Pages) -> None:
    remembered(pages.caller, OLD)
    batch = take_in(pages, NEW)
    with entered(pages.caller):
        found = ids(pages.caller, batch)
        embedding.embed_batch(memory_ids=found)
        share = ReplacementShare(ids=frozenset(found))
        integrate_stored(memory_ids=found, share=share, now=datetime.now(UTC))
    apart = take_in(pages)

    brought, others = (counts(pages.caller, one).by_group for one in (batch, apart))

    assert (brought[Group.CONFLICTS], others[Group.CONFLICTS]) == (1, 0)


def test_nobody_is_told_of_an_import_that_they_do_not_see(
    pages: Pages, member_caller: Caller, other_caller: Caller
) -> None:
    mine = take_in(pages, scope="personal")
    pages.owner.post("/o/acme/projects/new", {"slug": "other", "name": "Other"})

    for client in (pages.viewer, pages.stranger):
        for part in ("", "/rows", "/groups", "/bulk"):
            asked = client.get(f"{INBOX}{part}?import={mine.id}")
            unknown = client.get(f"{INBOX}{part}?import={uuid4()}")
            assert (asked.status_code, unknown.status_code) == (404, 404)
    assert pages.owner.get(f"/o/acme/p/other/inbox?import={mine.id}").status_code == 404
    assert "mill.md" not in pages.viewer.get(f"{INBOX}/groups?group=imports").text
    for each in (member_caller, other_caller):
        with pytest.raises(NotFound):
            counts(each, mine, project=None)
    with entered(member_caller):
        now = datetime.now(UTC)
        asked = {"caller": member_caller, "project": "shop", "limit": 9, "now": now}
        assert queries.list_waiting_imports(**asked) == ()


TEXT = "# Mill\n\nThe gate of the mill opens at <b>nine</b>.\n"


def test_a_document_is_kept_shown_line_by_line_brought_to_its_new_text_and_removed(
    pages: Pages,
) -> None:
    notes, form = f"{pages.shop}notes", {"path": "docs/mill.md", "text": TEXT}

    kept, again = (pages.owner.post(notes, form).text for _ in range(2))
    with entered(pages.caller):
        (note,) = queries.list_notes(caller=pages.caller, project="shop", limit=10)
    listed, shown = (pages.owner.get(at).text for at in (notes, f"{notes}/{note.id}"))
    changed = pages.owner.post(notes, {**form, "text": TEXT.replace("nine", "eleven")}).text
    removed = pages.owner.post(f"{notes}/{note.id}")

    assert "1 memory added" in kept
    for text in ("1 as it was", 'class="chip">'):
        assert text in again
    assert f'href="{notes}/{note.id}"' in listed
    for text in ('id="L3"', "&lt;b&gt;nine&lt;/b&gt;"):
        assert text in shown
    assert ("<b>nine</b>" in shown, shown.count('href="/m/')) == (False, 1)
    assert "1 updated" in changed
    assert removed.status_code == 302
    assert "docs/mill.md" not in pages.owner.get(notes).text


def test_a_personal_note_is_not_told_to_others_by_its_next_text(pages: Pages) -> None:
    form = {"path": "plan.md", "text": TEXT, "scope": "personal"}
    pages.owner.post(f"{pages.shop}notes", form)

    refused = pages.owner.post(f"{pages.shop}notes", {**form, "scope": "project"})
    again = pages.owner.post(
        f"{pages.shop}notes", {**form, "text": f"{TEXT}And it closes at noon.\n"}
    )

    assert (refused.status_code, again.status_code) == (422, 200)
    with entered(pages.caller):
        (note,) = queries.list_notes(caller=pages.caller, project="shop", limit=10)
    assert (note.scope, note.version) == ("personal", 2)
