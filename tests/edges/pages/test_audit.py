"""The audit log as a page and as a file: for managers, filtered, with names and no contents."""

import csv
from io import StringIO

from django.test import Client

from frontend.presenters import audit_lines
from memory.records.queries.views import MemoryView
from teams.audit import AREAS
from teams.audit_chain import Entry
from tests.edges.audit.surfaces import ADMIN, PAGES, REST
from tests.edges.pages.conftest import STATEMENT, verb
from tests.edges.pages.session_pages import Pages

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
        ("area=memory", True),
        ("area=token", False),
        ("area=nothing", True),
        ("who=nobody", False),
        ("request=unknown", False),
        ("before=1", False),
    ):
        filtered = pages.owner.get(f"{LOG}?{query}").text
        assert (query, "stored a memory" in filtered) == (query, shows)
        assert ("No entry matches these filters" in filtered) is not shows


def test_a_member_is_told_who_reads_it(member_pages: Client, memory: MemoryView) -> None:
    page, file = member_pages.get(LOG), member_pages.get(f"{LOG}.csv")

    assert (page.status_code, file.status_code) == (403, 403)
    assert "Owners and admins read the audit log" in page.text
    assert "confirmed" not in page.text


def test_the_file_has_every_entry_and_column(owner_pages: Client, memory: MemoryView) -> None:
    answer = owner_pages.get(f"{LOG}.csv")

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
    "session.taken", "memory.bulk_alarmed", "memory.demoted", "token.approved",
}  # fmt: skip


def test_every_act_and_area_has_a_name() -> None:
    told = {write.act for write in (*PAGES, *REST, *ADMIN.values())}

    assert told | BESIDE == set(audit_lines.ACTS)
    assert set(AREAS) == set(audit_lines.AREAS)
