"""At the machine: files are imported in somebody's name, and exports come back."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts import tenancy
from accounts.models import Organization, User
from memory.records.models import Memory
from tests.support import people

RULES = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = "\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"


def call(name: str, *args: object, owner: User, **given: object) -> str:
    out = StringIO()
    with people.outside():
        call_command(name, *map(str, args), tenant="acme", person=owner.email, stdout=out, **given)
    return out.getvalue()


def stored(organization: Organization) -> int:
    with people.outside(), people.entered(organization=organization), tenancy.unit():
        return Memory.objects.count()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of rules."""
    place = tmp_path / "rules"
    place.mkdir()
    (place / "CLAUDE.md").write_text(RULES + SECRET)
    (place / "link.md").symlink_to("/etc/passwd")
    return place


def test_a_folder_is_imported_and_its_refusals_are_told(
    folder: Path, store: str, owner: User, organization: Organization
) -> None:
    said = call("import_memories", folder, owner=owner, project=store)

    assert "rules/CLAUDE.md:7: secrets" in said
    assert "hunter2" not in said
    assert "1 files: 2 added, 1 refused" in said
    assert stored(organization) == 2


def test_a_dry_run_stores_nothing(
    folder: Path, store: str, owner: User, organization: Organization
) -> None:
    said = call("import_memories", folder, owner=owner, project=store, dry_run=True)

    assert "2 added, 1 refused" in said
    assert stored(organization) == 0


def test_an_export_comes_back_as_it_was(
    folder: Path, store: str, owner: User, organization: Organization, tmp_path: Path
) -> None:
    call("import_memories", folder, owner=owner, project=store)
    file = tmp_path / "all.ndjson"

    said = call("export_memories", file, owner=owner, project=store)
    again = call("import_memories", file, owner=owner, project=store, as_it_was=True)

    assert said.startswith("2 memories")
    assert again == "0 added, 2 known, 0 refused\n"
    with pytest.raises(CommandError, match="exists already"):
        call("export_memories", file, owner=owner, project=store)


def test_who_is_not_there_imports_nothing(folder: Path, store: str, stranger: User) -> None:
    with pytest.raises(CommandError, match="in no organization"):
        call("import_memories", folder, owner=stranger)
