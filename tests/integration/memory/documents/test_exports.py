"""import(export(x)) = x, and an export holds what its caller may see, no more."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import Forbidden, InvalidInput, NotFound, RoleNotSufficient
from accounts.models import User
from memory.documents import file_formats
from memory.documents.actions.export import ExportFormat, ExportRequest, export
from memory.documents.actions.restoration import RestoredExport, restore_export
from memory.documents.file_formats import FIELDS, FieldRule
from memory.intake.actions.revise import revise
from memory.records.models import Memory, MemoryLink
from teams.actions import create_project
from teams.models import AuditEntry
from tests.support import foreign_files, memories, people, records
from tests.support.goals import Scale
from tests.support.memories import correct

pytestmark = pytest.mark.usefixtures("store")

ALL = "is:any"
LOSSLESS = (ExportFormat.JSON, ExportFormat.LINES, ExportFormat.MARKDOWN)
OF_PLACES = {"id", "project", "author_user", "superseded_by"}


def exported(caller: Caller, now: datetime, **given: Any) -> list[dict[str, Any]]:
    request = ExportRequest(**{"project": "store", "query": ALL, **given})
    data = export(caller=caller, request=request, now=now).file.read()
    found = foreign_files.read(name="export", data=data)
    assert found.faults == ()
    return [dict(one.record) for one in found.candidates]


def brought_back(caller: Caller, told: list[dict[str, Any]], now: datetime) -> RestoredExport:
    return restore_export(caller=caller, project="empty", records=tuple(told), now=now)


def comparable(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with their ids replaced by what they say, so that two places compare."""
    said = {one["id"]: one["content"] for one in told}
    return sorted(
        (
            {
                **{name: value for name, value in one.items() if name not in OF_PLACES},
                "superseded_by": said.get(one["superseded_by"]),
                "links": sorted(
                    ({**link, "target": said.get(link["target"])} for link in one["links"]),
                    key=json.dumps,
                ),
            }
            for one in told
        ),
        key=lambda one: str(one["content"]),
    )


@pytest.fixture
def empty(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> str:
    """A project without memories."""
    return create_project(caller=caller, slug="empty", name="Empty", now=now).slug


@pytest.mark.timeout(3_600)
@pytest.mark.goal(name="G23")
@pytest.mark.parametrize("format", LOSSLESS)
def test_what_is_exported_comes_back_as_it_was(
    caller: Caller, store: str, empty: str, now: datetime, format: ExportFormat, scale: Scale,
    figure: Callable[[str], None],
) -> None:  # fmt: skip
    count = scale.of(short=60, long=10_000)
    records.fill(caller=caller, project=store, count=count, seed=23)
    before = exported(caller, now, format=format)
    started = perf_counter()

    done = brought_back(caller, before, now)

    took = perf_counter() - started
    after = exported(caller, now, project=empty, format=format)
    again = brought_back(caller, before, now)
    assert (done.added, done.refused) == (count, ())
    assert (again.added, again.known) == (0, count)
    assert comparable(after) == comparable(before)
    with tenancy.unit():
        entry = AuditEntry.objects.filter(act="memory.exported").order_by("number")[0]
        assert entry.details == {"memories": count, "format": format.value}
    kept = sum(fate is FieldRule.KEPT for fate, _ in FIELDS.values())
    figure(f"{format}: {count:,} memories equal, {kept} fields kept, back in {took:.1f} s")


def test_an_export_comes_back_in_another_organization(
    caller: Caller, other_caller: Caller, store: str, now: datetime
) -> None:
    records.fill(caller=caller, project=store, count=40, seed=2)
    before = exported(caller, now)

    with people.outside(), entered(other_caller):
        create_project(caller=other_caller, slug="empty", name="Empty", now=now)
        brought_back(other_caller, before, now)
        after = exported(other_caller, now, project="empty")

    assert {one["author_user"] for one in after} == {str(other_caller.user_id)}
    for one in (*before, *after):
        for version in one["versions"]:
            version.pop("changed_by")
    assert comparable(after) == comparable(before)


def test_a_real_history_comes_back(caller: Caller, store: str, empty: str, now: datetime) -> None:
    old = memories.stored(caller, now, project=store).id
    told = f"{memories.REDIS} Since version 3."
    fixed = correct(
        caller=caller, memory_id=old, content=told, kind="wrong", reason="", now=now
    ).memory
    assert fixed is not None
    revise(caller=caller, memory_id=fixed.id, changes={"tags": ["a"]}, if_version=None, now=now)

    brought_back(caller, exported(caller, now), now)

    with tenancy.unit():
        new = Memory.objects.get(project__slug=empty, status="active")
        gone = Memory.objects.get(project__slug=empty, status="superseded")
        assert gone.superseded_by_id == new.id
        assert new.versions.count() == fixed.version
        assert MemoryLink.objects.filter(source=new, target=gone, kind="supersedes").count() == 1


def test_others_personal_memories_and_hidden_projects_are_in_no_export(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    shared = memories.stored(caller, now, memories.CARTS, project=store)
    mine = memories.stored(caller, now, memories.PARSER, project=store, scope="personal")
    hidden = memories.stored(caller, now, project="vault")
    with tenancy.unit():
        for other in (mine, hidden):
            MemoryLink.objects.create(source_id=shared.id, target_id=other.id, kind="see_also")
        Memory.objects.filter(pk=shared.id).update(superseded_by=mine.id)

    for project in (store, None):
        (told,) = exported(member_caller, now, project=project)
        seen = (told["id"], told[file_formats.LINKS], told["superseded_by"])
        assert seen == (str(shared.id), [], None)
    with pytest.raises(NotFound):
        exported(member_caller, now, project="vault")
    with pytest.raises(InvalidInput):  # words are no filter
        exported(caller, now, query="redis tokens")


def test_a_version_of_before_it_was_shared_stays_its_authors(
    member_caller: Caller, caller: Caller, store: str, now: datetime
) -> None:
    note = memories.stored(member_caller, now, project=store, scope="personal")
    changes = {"scope": "project", "content": memories.CARTS}
    revise(caller=member_caller, memory_id=note.id, changes=changes, if_version=None, now=now)

    (told,) = exported(caller, now)
    (mine,) = exported(member_caller, now)

    assert told[file_formats.VERSIONS] == []
    assert len(mine[file_formats.VERSIONS]) == 1


def test_what_looks_like_a_secret_by_now_is_not_exported(
    caller: Caller, store: str, now: datetime
) -> None:
    kept = memories.stored(caller, now, project=store)
    with tenancy.unit():
        content = "The password of staging is `hunter2Xq9!zLm4`, said the old note."
        Memory.objects.filter(pk=kept.id).update(content=content)

    for format in ExportFormat:
        request = ExportRequest(project=store, format=format)
        assert b"hunter2" not in export(caller=caller, request=request, now=now).file.read()


def test_only_managers_in_person_bring_back_what_was(
    caller: Caller, member_caller: Caller, empty: str, now: datetime
) -> None:
    agent = memories.as_agent(replace(caller, role=Role.OWNER))

    with pytest.raises(RoleNotSufficient):
        brought_back(member_caller, [], now)
    with pytest.raises(Forbidden):
        brought_back(agent, [], now)


def test_broken_and_secret_records_are_refused_one_by_one(
    caller: Caller, store: str, empty: str, now: datetime
) -> None:
    records.fill(caller=caller, project=store, count=6, seed=3)
    told = exported(caller, now)
    told[0]["content"] = "The password of staging is `hunter2Xq9!zLm4`, said the note."
    told[1]["status"] = "deleted"
    told[2]["confidence"] = 7
    told[3]["versions"] = [{"number": 1, "content": "password = hunter2Xq9!zLm4"}]
    del told[4]["created_at"]

    done = brought_back(caller, told, now)

    assert (done.added, len(done.refused)) == (1, 5)
    assert "hunter2" not in repr(done)


def test_moment_that_no_row_holds_is_refused_and_all_others_stay_readable(
    caller: Caller, store: str, empty: str, now: datetime
) -> None:
    moments = ("9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+14:00")
    names = (*file_formats.TIMES, file_formats.VERSIONS)
    records.fill(caller=caller, project=store, count=len(names) + 1, seed=3)
    fine, *odd = exported(caller, now)
    version = {
        "number": 1, "content": "It was so.", "fields": {}, "reason": "", "changed_by": None,
        "changed_agent": "", "changed_at": moments[0],
    }  # fmt: skip
    for place, (name, record) in enumerate(zip(names, odd, strict=True)):
        record[name] = [version] if name == file_formats.VERSIONS else moments[place % 2]

    done = brought_back(caller, [fine, *odd], now)

    assert (done.added, [id for id, _ in done.refused]) == (1, [one["id"] for one in odd])
    assert [one["content"] for one in exported(caller, now, project=empty)] == [fine["content"]]


# At the machine: files are imported in somebody's name, and exports come back.

RULES = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = "\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"


def call(name: str, *args: object, person: User, **given: object) -> str:
    """Call a command in somebody's name; return what it says, and how many memories there are."""
    out = StringIO()
    with people.outside():
        call_command(name, *map(str, args), tenant="acme", person=person.email, stdout=out, **given)
    with tenancy.unit():
        return f"{out.getvalue()}{Memory.objects.count()} stored"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of rules."""
    place = tmp_path / "rules"
    place.mkdir()
    (place / "CLAUDE.md").write_text(RULES + SECRET)
    (place / "link.md").symlink_to("/etc/passwd")
    return place


def test_a_folder_is_imported_its_refusals_are_told_and_it_comes_back_as_it_was(
    folder: Path, store: str, owner: User, stranger: User, tmp_path: Path
) -> None:
    dry = call("import_memories", folder, person=owner, project=store, dry_run=True)
    said = call("import_memories", folder, person=owner, project=store)
    file = tmp_path / "all.ndjson"
    written = call("export_memories", file, person=owner, project=store)
    again = call("import_memories", file, person=owner, project=store, as_it_was=True)

    assert "2 added, 1 refused" in dry
    assert dry.endswith("\n0 stored")
    assert "rules/CLAUDE.md:7: secrets" in said
    assert "hunter2" not in said
    assert said.endswith("1 files: 2 added, 1 refused\n2 stored")
    assert written.startswith("2 memories")
    assert again == "0 added, 2 known, 0 refused\n2 stored"
    with pytest.raises(CommandError, match="exists already"):
        call("export_memories", file, person=owner, project=store)
    with pytest.raises(CommandError, match="in no organization"):
        call("import_memories", folder, person=stranger)
