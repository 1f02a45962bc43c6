"""Every page: who may open it, what it shows and costs; and the audit log."""

import csv
import re
from io import StringIO

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from frontend.presenters import audit_lines
from memory.records.queries.views import MemoryView
from teams.audit import AREAS
from teams.audit_chain import Entry
from tests.edges.audit import surfaces
from tests.edges.audit.world import World
from tests.edges.pages.conftest import STATEMENT, verb
from tests.edges.pages.session_pages import Pages, signed_in

PAGES = {  # address: what its people see
    "": "Shop", "p/shop/": "Overview", "p/shop/figures": "Memories", "p/shop/memories": "Carts",
    "p/shop/memories/{memory}": "Carts expire", "p/shop/memories/{memory}.json": "Carts expire",
    "p/shop/memories/{memory}.md": "Carts expire", "p/shop/memories/{memory}/correct": "Carts",
    "p/shop/memories/{memory}/archive": "Carts expire", "p/shop/teach": "Teach",
    "p/shop/inbox": "Review inbox", "p/shop/inbox/rows": "row-", "p/shop/inbox/groups": "New",
    "p/shop/inbox/bulk?group=new": "to confirm", "p/shop/conflicts": "counts a parcel",
    "p/shop/conflicts/{conflict}": "counts a parcel", "p/shop/connections": "Connections",
    "p/shop/connections/steps": "First call", "p/shop/connections/code": "Files are arriving",
    "p/shop/activity": "Activity", "p/shop/trust": "Trust", "p/shop/check": "Check",
    "p/shop/topics": "Topics", "p/shop/entities": "LoginGate", "p/shop/sessions": "In progress",
    "p/shop/entities/about?name=LoginGate": "LoginGate", "p/shop/sessions/{session}": "Session",
    "p/shop/imports": "mill.md", "p/shop/imports/{import}": "gate of the mill",
    "p/shop/notes": "b.md", "p/shop/notes/{note}": "grinds rye", "p/shop/usage": "Usage",
    "p/shop/experiments": "experiment", "p/shop/rollback": "Roll back",
    "p/shop/settings": "Project settings", "palette?q=carts": "Carts", "changes?after=0": "memory.",
    "projects/new": "New project", "settings/general": "Acme", "settings/members": "owner@acme",
    "settings/members/invite": "Invite", "settings/tokens": "laptop", "settings/tokens/new": "days",
    "settings/teams": "core", "settings/teams/{team}": "member@acme", "settings/jobs": "Embed",
    "settings/models": "hashing/words-384", "settings/methodologies": "scrum",
    "settings/methodologies/scrum": "sprint", "settings/styles": "quick", "settings/usage": "cost",
    "settings/styles/{style}": "Short.", "settings/audit": "stored a memory",
}  # fmt: skip
REQUEST_ID = re.compile(rb"<code>[0-9a-f]{32}</code>|value=\"[A-Za-z0-9]{64}\"|/[a-z0-9/.-]+\"")
PLACES = {  # pages of a list: places that are none
    "p/shop/entities?after=": ("x", "1~x~y", "-1~system~a", "9~system~" + "a" * 500),
    "p/shop/sessions?after=": ("x", "9" * 40, "2026-01-01~x", "2026-01-01T00:00:00~" + "0" * 32),
    "p/shop/memories?after=": ("x", "0001-01-01T00:00:00%2B23:59~{memory}"),
    "p/shop/imports/{import}?after=": ("x", "9" * 40),
}
READERS = {  # what who only reads is told, what is not there for them, and the status
    "p/shop/memories/{memory}": ("Viewers read", 'data-key="y"', 200),
    "p/shop/inbox": ("Viewers read", 'data-key="y"', 200),
    "p/shop/conflicts/{conflict}": ("Members and above decide.", 'data-key="b"', 200),
    "p/shop/entities/about?name=LoginGate": ("LoginGate", "Merge the names", 200),
    "p/shop/notes": ("b.md", 'name="text"', 200),
    "p/shop/experiments": ("Owners and admins change this.", 'value="undo"', 200),
    "p/shop/imports/{import}": ("gate of the mill", 'value="reject"', 200),
    "p/shop/usage": ("Owners and admins see what models cost.", "No model was asked", 403),
    "settings/usage": ("Owners and admins see what models cost.", "No model was asked", 403),
    "settings/audit": ("Owners and admins read the audit log", "stored a memory", 403),
    "settings/models": ("Owners and admins choose the embedding model.", "hashing/", 403),
    "settings/methodologies": ("Owners and admins change this.", 'value="save"', 200),
    "settings/methodologies/scrum": ("sprint", 'name="verb"', 200),
    "settings/styles": ("quick", "New style", 200),
    "settings/styles/{style}": ("Owners and admins change this.", 'value="remove"', 200),
    "settings/teams": ("You are in no team.", "core", 200),
}


@pytest.mark.usefixtures("clean_cache")
def test_its_people_see_each_page_and_strangers_what_nonexistent_looks_like(
    acme: World, stranger: User, subtests: pytest.Subtests
) -> None:
    foreigner = signed_in(stranger)
    for address, text in PAGES.items():
        page = f"/o/acme/{address}".format(**acme.names)
        with subtests.test(address):
            own, foreign = acme.browsers["owner"].get(page), foreigner.get(page)
            nonexistent = foreigner.get(page.replace("/o/acme/", "/o/nowhere/"))

            assert (own.status_code, "no-store" in own["Cache-Control"]) == (200, True)
            assert text in own.text
            assert foreign.status_code == nonexistent.status_code == 404
            assert REQUEST_ID.sub(b"", foreign.content) == REQUEST_ID.sub(b"", nonexistent.content)

    link = "/m/{memory}".format(**acme.names)
    assert acme.browsers["owner"].get(link)["Location"].startswith("/o/acme/p/shop/memories/")
    assert foreigner.get(link).status_code == 404


def test_a_place_that_is_none_begins_at_the_beginning(
    acme: World, subtests: pytest.Subtests
) -> None:
    for address, places in PLACES.items():
        page = f"/o/acme/{address}".format(**acme.names)
        usual = acme.browsers["owner"].get(page)
        for place in places:
            with subtests.test(f"{address}{place}"[:120]):
                shown = acme.browsers["owner"].get(page + place.format(**acme.names))

                assert shown.status_code == usual.status_code == 200
                assert usual.text.count("<tr") + usual.text.count('role="listitem"') > 0
                assert shown.text.count("<tr") == usual.text.count("<tr")
                assert shown.text.count('role="listitem"') == usual.text.count('role="listitem"')


def test_who_only_reads_is_told_who_decides(acme: World, subtests: pytest.Subtests) -> None:
    for address, (says, not_there, status) in READERS.items():
        with subtests.test(address):
            shown = acme.browsers["viewer"].get(f"/o/acme/{address}".format(**acme.names))

            main = shown.text.partition("<main")[2]
            owners = acme.browsers["owner"].get(f"/o/acme/{address}".format(**acme.names)).text
            assert (shown.status_code, says in shown.text) == (status, True)
            assert not_there not in main
            assert not_there in owners.partition("<main")[2]


def test_page_costs_a_known_number_of_queries(
    pages: Pages, memory: MemoryView, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for address, queries in (
        ("/o/acme/", 34), ("/o/acme/p/shop/", 46), ("/o/acme/p/shop/memories", 46),
        ("/o/acme/p/shop/connections", 24), ("/o/acme/p/shop/activity", 42),
    ):  # fmt: skip
        with django_assert_max_num_queries(queries):
            assert pages.owner.get(address).status_code == 200


LOG = "/o/acme/settings/audit"


def test_a_manager_reads_who_did_what_and_from_where(pages: Pages, memory: MemoryView) -> None:
    pages.owner.post(verb(memory.id, "confirm"), headers={"X-Request-Id": "request-of-mine"})

    shown = pages.owner.get(LOG).text
    file = pages.owner.get(f"{LOG}.csv").text

    for text in ("confirmed a memory", "Owner", "127.0.0.1", "?request=request-of-mine"):
        assert text in shown
    assert str(memory.id).replace("-", "")[-8:] in shown
    assert STATEMENT[:20] not in shown + file
    for query, shows in (
        ("area=memory", True), ("area=token", False), ("area=nothing", True),
        ("who=nobody", False), ("request=unknown", False), ("before=1", False),
    ):  # fmt: skip
        filtered = pages.owner.get(f"{LOG}?{query}").text
        assert (query, "stored a memory" in filtered) == (query, shows)
        assert ("No entry matches these filters" in filtered) is not shows


def test_the_file_has_every_entry_and_column_and_a_member_is_told_who_reads_it(
    pages: Pages, memory: MemoryView
) -> None:
    answer = pages.owner.get(f"{LOG}.csv")
    page, file = pages.member.get(LOG), pages.member.get(f"{LOG}.csv")

    assert (page.status_code, file.status_code) == (403, 403)
    assert "Owners and admins read the audit log" in page.text
    assert "stored a memory" not in page.text + file.text
    rows = list(csv.DictReader(StringIO(answer.text)))
    assert [row["act"] for row in rows] == ["memory.created", "project.created"]
    assert set(rows[0]) == set(audit_lines.COLUMNS)
    assert len(rows[0]["hash"]) == 64
    assert "audit-acme.csv" in answer["Content-Disposition"]


def test_no_cell_is_a_formula() -> None:
    agents = ("=1+1", "+1", "-1", "@sum(a1)", "\tx")
    empty = dict.fromkeys(audit_lines.COLUMNS, "") | {"details": {}, "fields": ()}

    file = audit_lines.as_csv(entries=[Entry(**empty | {"agent": agent}) for agent in agents])

    rows = csv.DictReader(StringIO(file, newline=""))
    assert [row["agent"] for row in rows] == [f"'{agent}" for agent in agents]


BESIDE = {  # acts of jobs, commands, tools and strangers, which are no page and no call
    "token.leaked", "model.activated", "memory.bulk_integrated", "memory.reinstated",
    "session.taken", "memory.bulk_alarmed", "memory.demoted", "token.approved", "session.asked",
    "memory.bulk_shared", "member.erased",
}  # fmt: skip


def test_every_act_and_area_has_a_name() -> None:
    told = {write.act for write in (*surfaces.PAGES, *surfaces.REST, *surfaces.ADMIN.values())}

    assert told | BESIDE == set(audit_lines.ACTS)
    assert set(AREAS) == set(audit_lines.AREAS)
