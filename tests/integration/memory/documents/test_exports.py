"""import(export(x)) = x, and an export holds what its caller may see, no more."""

import json
from collections.abc import Callable
from dataclasses import replace
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
from memory.records.models import Memory, MemoryLink
from teams.actions import create_project
from teams.models import AuditEntry
from tests.support import foreign_files, memories, people, records
from tests.support.goals import Scale
from tests.support.reviewed import World

pytestmark = pytest.mark.usefixtures("store")

ALL = "is:any"
LOSSLESS = (ExportFormat.JSON, ExportFormat.LINES, ExportFormat.MARKDOWN)
OF_PLACES = {"id", "project", "author_user", "superseded_by"}


def exported(world: World, by: Caller | None = None, **given: Any) -> list[dict[str, Any]]:
    request = ExportRequest(**{"project": "store", "query": ALL, **given})
    data = export(caller=by or world.owner, request=request, now=world.now).file.read()
    found = foreign_files.read(name="export", data=data)
    assert found.faults == ()
    return [dict(one.record) for one in found.candidates]


def brought_back(
    world: World, told: list[dict[str, Any]], by: Caller | None = None
) -> RestoredExport:
    given = {"caller": by or world.owner, "now": world.now}
    return restore_export(project="empty", records=tuple(told), **given)


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
def empty(world: World) -> str:
    """A project without memories."""
    return world.make_project("empty").slug


@pytest.mark.timeout(3_600)
@pytest.mark.goal(name="G23")
@pytest.mark.parametrize("format", LOSSLESS)
def test_what_is_exported_comes_back_as_it_was(
    world: World, empty: str, format: ExportFormat, scale: Scale, figure: Callable[[str], None],
) -> None:  # fmt: skip
    count = scale.of(short=60, long=10_000)
    records.fill(caller=world.owner, project=world.store, count=count, seed=23)
    before = exported(world, format=format)
    started = perf_counter()

    done = brought_back(world, before)

    took = perf_counter() - started
    after = exported(world, project=empty, format=format)
    again = brought_back(world, before)
    assert (done.added, done.refused) == (count, ())
    assert (again.added, again.known) == (0, count)
    assert comparable(after) == comparable(before)
    with tenancy.unit():
        entry = AuditEntry.objects.filter(act="memory.exported").order_by("number")[0]
        assert entry.details == {"memories": count, "format": format.value}
    kept = sum(fate is FieldRule.KEPT for fate, _ in FIELDS.values())
    figure(f"{format}: {count:,} memories equal, {kept} fields kept, back in {took:.1f} s")


def test_an_export_comes_back_in_another_organization(world: World, other_caller: Caller) -> None:
    records.fill(caller=world.owner, project=world.store, count=40, seed=2)
    before = exported(world)

    with people.outside(), entered(other_caller):
        create_project(caller=other_caller, slug="empty", name="Empty", now=world.now)
        brought_back(world, before, by=other_caller)
        after = exported(world, project="empty", by=other_caller)

    assert {one["author_user"] for one in after} == {str(other_caller.user_id)}
    for one in (*before, *after):
        for version in one["versions"]:
            version.pop("changed_by")
    assert comparable(after) == comparable(before)


def test_a_real_history_comes_back(world: World, empty: str) -> None:
    told = f"{memories.REDIS} Since version 3."
    fixed_id = world.put_right(world.stored(memories.REDIS).id, told, world.owner)
    with tenancy.unit():
        fixed = Memory.objects.get(pk=fixed_id)
    world.say(fixed, by=world.owner, tags=["a"])

    brought_back(world, exported(world))

    with tenancy.unit():
        new = Memory.objects.get(project__slug=empty, status="active")
        gone = Memory.objects.get(project__slug=empty, status="superseded")
        assert gone.superseded_by_id == new.id
        assert new.versions.count() == fixed.version
        assert MemoryLink.objects.filter(source=new, target=gone, kind="supersedes").count() == 1


def test_others_personal_memories_and_hidden_projects_are_in_no_export(world: World) -> None:
    world.make_project("vault", open_to_all=False)
    shared = world.stored(memories.CARTS)
    mine = world.stored(memories.PARSER, scope="personal")
    hidden = world.stored(memories.REDIS, project="vault")
    with tenancy.unit():
        for other in (mine, hidden):
            MemoryLink.objects.create(source_id=shared.id, target_id=other.id, kind="see_also")
        Memory.objects.filter(pk=shared.id).update(superseded_by=mine.id)

    for project in (world.store, None):
        (told,) = exported(world, project=project, by=world.member)
        seen = (told["id"], told[file_formats.LINKS], told["superseded_by"])
        assert seen == (str(shared.id), [], None)
    with pytest.raises(NotFound):
        exported(world, project="vault", by=world.member)
    with pytest.raises(InvalidInput):  # words are no filter
        exported(world, query="redis tokens")


def test_a_version_of_before_it_was_shared_stays_its_authors(world: World) -> None:
    note = world.theirs(memories.REDIS, scope="personal")
    world.say(note, by=world.member, scope="project", content=memories.CARTS)

    (told,) = exported(world)
    (mine,) = exported(world, by=world.member)

    assert told[file_formats.VERSIONS] == []
    assert len(mine[file_formats.VERSIONS]) == 1


def test_what_looks_like_a_secret_by_now_is_not_exported(world: World) -> None:
    kept = world.stored(memories.REDIS)
    with tenancy.unit():
        content = "The password of staging is `hunter2Xq9!zLm4`, said the old note."
        Memory.objects.filter(pk=kept.id).update(content=content)

    for format in ExportFormat:
        request = ExportRequest(project=world.store, format=format)
        made = export(caller=world.owner, request=request, now=world.now)
        assert b"hunter2" not in made.file.read()


def test_only_managers_in_person_bring_back_what_was(world: World, empty: str) -> None:
    agent = memories.as_agent(replace(world.owner, role=Role.OWNER))

    with pytest.raises(RoleNotSufficient):
        brought_back(world, [], by=world.member)
    with pytest.raises(Forbidden):
        brought_back(world, [], by=agent)


def test_broken_and_secret_records_are_refused_one_by_one(world: World, empty: str) -> None:
    records.fill(caller=world.owner, project=world.store, count=6, seed=3)
    told = exported(world)
    told[0]["content"] = "The password of staging is `hunter2Xq9!zLm4`, said the note."
    told[1]["status"] = "deleted"
    told[2]["confidence"] = 7
    told[3]["versions"] = [{"number": 1, "content": "password = hunter2Xq9!zLm4"}]
    del told[4]["created_at"]

    done = brought_back(world, told)

    assert (done.added, len(done.refused)) == (1, 5)
    assert "hunter2" not in repr(done)


def test_moment_that_no_row_holds_is_refused_and_no_other(world: World, empty: str) -> None:
    moments = ("9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+14:00")
    names = (*file_formats.TIMES, file_formats.VERSIONS)
    records.fill(caller=world.owner, project=world.store, count=len(names) + 1, seed=3)
    fine, *odd = exported(world)
    version = {
        "number": 1, "content": "It was so.", "fields": {}, "reason": "", "changed_by": None,
        "changed_agent": "", "changed_at": moments[0],
    }  # fmt: skip
    for place, (name, record) in enumerate(zip(names, odd, strict=True)):
        record[name] = [version] if name == file_formats.VERSIONS else moments[place % 2]

    done = brought_back(world, [fine, *odd])

    assert (done.added, [id for id, _ in done.refused]) == (1, [one["id"] for one in odd])
    assert [one["content"] for one in exported(world, project=empty)] == [fine["content"]]


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
