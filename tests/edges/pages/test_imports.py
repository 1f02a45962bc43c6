"""The import page: files are looked at first, rows can be left out, and it is taken back."""

from datetime import UTC, datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Job
from memory.documents import queries
from memory.documents.models import ImportRow
from memory.documents.queries import ImportView
from memory.tasks import job_handlers
from tests.support import work

RULES = b"# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = b"\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"
HERE = "/o/acme/p/shop/imports"


def rules(more: bytes = b"") -> SimpleUploadedFile:
    return SimpleUploadedFile("mill.md", RULES + more)


def the_import(caller: Caller) -> ImportView:
    with entered(caller):
        (found,), _ = queries.list_imports(
            caller=caller, project=None, after=None, limit=9, now=datetime.now(UTC)
        )
    return found


def test_a_file_is_looked_at_and_nothing_is_stored(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    page = owner_pages.post(f"{HERE}/look", {"file": rules(SECRET)}, headers={"HX-Request": "true"})

    text = page.content.decode()
    assert "2 added · 1 refused" in text
    assert "mill.md: Markdown" in text
    assert text.count('name="keep"') == 2
    assert "hunter2" not in text
    with entered(caller), tenancy.unit():
        assert ImportRow.objects.count() == 0


def test_a_row_that_is_not_kept_is_left_out(owner_pages: Client, shop: str, caller: Caller) -> None:
    sent = {"file": rules(), "offered": "1,2", "keep": ["2"], "scope": "project"}

    answer = owner_pages.post(HERE, sent)

    found = the_import(caller)
    assert answer["Location"] == f"{HERE}/{found.id}"
    assert dict(found.counts) == {"left_out": 1, "waiting": 1}


def test_an_import_shows_its_rows_and_is_taken_back(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    owner_pages.post(HERE, {"file": rules(SECRET), "pasted": "The wheel of the mill turns left."})
    found = the_import(caller)
    with entered(caller):
        job_handlers.take_in(work.taken(found.job_id))

    shown = owner_pages.get(f"{HERE}/{found.id}").content.decode()
    owner_pages.post(f"{HERE}/{found.id}/change", {"verb": "undo"})
    after = owner_pages.get(f"{HERE}/{found.id}").content.decode()

    assert "3 added · 1 refused" in shown
    assert "The miller has the only key to it." in shown
    assert "hunter2" not in shown
    assert "1 refused · 3 undone" in after


def test_the_list_is_exported_with_its_filter(owner_pages: Client, shop: str) -> None:
    owner_pages.post(
        "/o/acme/p/shop/teach", {"content": "The gate jams in hard frost.", "type": "gotcha"}
    )
    owner_pages.post(
        "/o/acme/p/shop/teach", {"content": "The mill grinds rye only.", "type": "fact"}
    )

    answer = owner_pages.post("/o/acme/p/shop/export", {"format": "csv", "q": "type:gotcha"})

    lines = answer.getvalue().decode().splitlines()
    assert answer["Content-Disposition"].startswith('attachment; filename="shop-')
    assert len(lines) == 2
    assert "hard frost" in lines[1]


@pytest.fixture
def taken(owner_pages: Client, shop: str, caller: Caller) -> str:
    """The address of an import that was taken in."""
    owner_pages.post(HERE, {"file": rules()})
    found = the_import(caller)
    with entered(caller):
        job_handlers.take_in(work.taken(found.job_id))
    return f"{HERE}/{found.id}"


def test_what_waits_of_an_import_is_kept_at_once_when_counted_right_and_taken_back(
    owner_pages: Client, caller: Caller, taken: str
) -> None:
    wrong = owner_pages.post(f"{taken}/change", {"verb": "reject", "count": "3"})
    waits = the_import(caller).to_review
    kept = owner_pages.post(f"{taken}/change", {"verb": "keep", "count": "2"})
    left = the_import(caller).to_review
    text = owner_pages.get(kept["Location"]).content.decode()
    review = kept["Location"].partition("decided=")[2]
    back = owner_pages.post(f"{taken}/change", {"verb": "take_back", "review": review})

    assert (wrong.status_code, waits) == (409, 2)
    assert "2 wait here now, not 3." in wrong.content.decode()
    assert f'name="review" value="{review}"' in text
    assert (left, back["Location"], the_import(caller).to_review) == (0, taken, 2)


def test_imports_with_something_to_review_stand_beside_the_inbox(
    owner_pages: Client, viewer_pages: Client, taken: str
) -> None:
    groups = owner_pages.get("/o/acme/p/shop/inbox/groups?group=imports").content.decode()
    others = owner_pages.get("/o/acme/p/shop/inbox/groups?group=new").content.decode()
    seen = viewer_pages.get(taken).content.decode()

    batch = taken.rpartition("/")[2]
    assert f"/o/acme/p/shop/inbox?import={batch}" in groups
    assert f"import={batch}" not in others
    assert 'value="reject"' not in seen


def test_failed_import_says_why_and_is_tried_again(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    owner_pages.post(HERE, {"file": rules()})
    found = the_import(caller)
    at = f"{HERE}/{found.id}"
    reason = "Its worker stopped without finishing it."
    Job.objects.filter(pk=str(found.job_id)).update(state="quarantined", error=reason)

    text = owner_pages.get(at).content.decode()
    again = owner_pages.post(f"{at}/change", {"verb": "retry"})

    assert reason in text
    assert 'value="retry"' in text
    assert (again["Location"], the_import(caller).state) == (at, "queued")
