"""The review inbox narrowed to one import: what came with it, counted, decided, and who sees it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.documents import queries
from memory.documents.queries import ImportView
from memory.index.actions import embedding
from memory.intake.actions.apply_decision import ReplacementShare, integrate_stored
from memory.records.queries.pending import Group
from memory.review.actions.verdicts import snooze
from memory.review.queries import inbox
from memory.tasks import job_handlers
from tests.edges.pages.conftest import remembered
from tests.support import work
from tests.support.waiting import waiting

OLD = "The gate of the mill in `mill/gate.py` opens 8 times a day before it is locked."
NEW = b"# Mill\n\nThe gate of the mill in `mill/gate.py` opens 9 times a day before it is locked.\n"
RULES = b"# Mill\n\nThe miller has a key.\n\nThe wheel of the mill turns left in the morning.\n"
OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
HERE = "/o/acme/p/shop/imports"
INBOX = "/o/acme/p/shop/inbox"


def _taken(pages: Client, caller: Caller, text: bytes = RULES, **form: str) -> ImportView:
    """Take a file in, and return the import."""
    pages.post(HERE, {"file": SimpleUploadedFile("mill.md", text), **form})
    now = datetime.now(UTC)
    with entered(caller):
        (one,), _ = queries.list_imports(
            caller=caller, project="shop", after=None, limit=1, now=now
        )
        job_handlers.take_in(work.taken(one.job_id))
        return queries.get_import(caller=caller, batch_id=one.id, now=now)


def of_import(caller: Caller, batch_id: UUID) -> QuerySet[Any] | None:
    return queries.imported_memories(caller=caller, batch_id=batch_id)


def _counts(caller: Caller, batch: ImportView) -> inbox.InboxCounts:
    with entered(caller):
        now = datetime.now(UTC)
        return inbox.count_waiting(
            caller=caller, project="shop", imported=of_import(caller, batch.id), now=now
        )


def _ids(caller: Caller, batch: ImportView, now: datetime) -> tuple[UUID, ...]:
    """Return what waits of an import; inside of the tenant."""
    return inbox.waiting_ids(
        caller=caller, project=None, group=None, imported=of_import(caller, batch.id), most=9,
        now=now,
    )  # fmt: skip


@pytest.fixture
def other(shop: str, caller: Caller) -> str:
    """The id of what waits and came with no import."""
    with entered(caller):
        return str(waiting(caller, datetime.now(UTC), OTHER, project="shop").id)


def test_the_list_holds_what_came_with_the_import_alone(
    owner_pages: Client, caller: Caller, other: str
) -> None:
    batch = _taken(owner_pages, caller)

    page = owner_pages.get(INBOX, {"import": str(batch.id)}).content.decode()
    whole = owner_pages.get(INBOX).content.decode()

    assert (page.count('role="listitem"'), whole.count('role="listitem"')) == (2, 3)
    assert f"row-{other}" not in page
    assert f"group=&amp;import={batch.id}" in page
    assert 'aria-current="page"><span class="clip">mill.md' in page


def test_the_page_of_an_import_leads_to_as_many_as_it_says(
    owner_pages: Client, caller: Caller, other: str
) -> None:
    batch = _taken(owner_pages, caller)
    with entered(caller):
        now = datetime.now(UTC)
        (one, _) = _ids(caller, batch, now)
        snooze(caller=caller, memory_id=one, until=now.replace(year=now.year + 1), now=now)

    page = owner_pages.get(f"{HERE}/{batch.id}").content.decode()
    with entered(caller):
        listed = queries.get_import(caller=caller, batch_id=batch.id, now=now)

    assert f'{INBOX}?import={batch.id}">Review 1 memory<' in page
    assert (batch.to_review, listed.to_review) == (2, 1)
    assert _counts(caller, batch).total == 1


def test_what_waits_of_an_import_is_decided_about_at_once_and_nothing_else(
    owner_pages: Client, caller: Caller, other: str
) -> None:
    batch = _taken(owner_pages, caller)
    address = f"{INBOX}/bulk?group=&import={batch.id}"

    asked = owner_pages.get(address).content.decode()
    owner_pages.post(address, {"whole": "1", "verb": "keep", "count": "2"})

    assert "2 memories need review." in asked
    assert _counts(caller, batch).total == 0
    with entered(caller):
        now = datetime.now(UTC)
        assert inbox.count_waiting(caller=caller, project="shop", now=now).total == 1
    empty = owner_pages.get(INBOX, {"import": str(batch.id)}).content.decode()
    assert "No memories of this import need review" in empty


def test_a_verdict_leads_to_the_next_one_of_the_import(
    owner_pages: Client, caller: Caller, other: str
) -> None:
    batch = _taken(owner_pages, caller)
    with entered(caller):
        now = datetime.now(UTC)
        first, second = _ids(caller, batch, now)

    address = f"{INBOX}/{first}/keep?group=imports&import={batch.id}"
    shown = owner_pages.post(address, headers={"HX-Request": "true"})

    assert f'data-memory="{second}"' in shown.content.decode()
    assert f"group=imports&import={batch.id}" in shown["HX-Trigger"]


def test_the_conflicts_that_an_import_brought_wait_with_it(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    remembered(caller, OLD)
    batch = _taken(owner_pages, caller, NEW)
    with entered(caller):
        now = datetime.now(UTC)
        ids = _ids(caller, batch, now)
        embedding.embed_batch(memory_ids=ids)
        integrate_stored(memory_ids=ids, share=ReplacementShare(ids=frozenset(ids)), now=now)
    apart = _taken(owner_pages, caller, RULES)

    brought, others = _counts(caller, batch).by_group, _counts(caller, apart).by_group

    assert (brought[Group.CONFLICTS], others[Group.CONFLICTS]) == (1, 0)


def test_nobody_is_told_of_an_import_that_they_do_not_see(
    owner_pages: Client, viewer_pages: Client, stranger_pages: Client, caller: Caller,
    member_caller: Caller, other_caller: Caller, shop: str,
) -> None:  # fmt: skip
    mine, now = _taken(owner_pages, caller, scope="personal"), datetime.now(UTC)
    owner_pages.post("/o/acme/projects/new", {"slug": "other", "name": "Other"})

    for pages in (viewer_pages, stranger_pages):
        for part in ("", "/rows", "/groups", "/bulk"):
            asked = pages.get(f"{INBOX}{part}?import={mine.id}")
            unknown = pages.get(f"{INBOX}{part}?import={uuid4()}")
            assert (asked.status_code, unknown.status_code) == (404, 404)
    assert owner_pages.get(f"/o/acme/p/other/inbox?import={mine.id}").status_code == 404
    assert "mill.md" not in viewer_pages.get(f"{INBOX}/groups?group=imports").content.decode()
    for each in (member_caller, other_caller):
        with entered(each), pytest.raises(NotFound):
            inbox.count_waiting(
                caller=each, project=None, imported=of_import(each, mine.id), now=now
            )
    with entered(member_caller):
        waiting = queries.list_waiting_imports(
            caller=member_caller, project="shop", limit=9, now=now
        )
    assert waiting == ()
