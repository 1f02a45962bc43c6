"""A project gets a name and a description that fit, or is not made at all."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Forbidden, InvalidInput, NotFound, PreconditionFailed, RoleNotSufficient
from teams import queries
from teams.actions import change_project, create_project, create_team, rename_team
from teams.errors import NotBoundToProject, SlugTaken
from teams.models import AuditEntry
from teams.queries import Kind, ProjectView, people_in, team, teams
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization")


def test_a_project_without_a_name_is_called_by_its_slug(caller: Caller, now: datetime) -> None:
    made = create_project(caller=caller, slug="store", name=" ", now=now)

    assert made.name == "store"
    assert made.created_at == now


@pytest.mark.parametrize(
    ("field", "text"),
    [("slug", "Store!"), ("name", "x" * 101), ("name", "a\nb"), ("description", "x" * 401)],
)
def test_what_does_not_fit_is_refused_by_name(
    caller: Caller, now: datetime, field: str, text: str
) -> None:
    given = {"slug": "store", "name": "Store", field: text}

    with pytest.raises(InvalidInput) as refused:
        create_project(caller=caller, now=now, **given)

    assert [fault.pointer for fault in refused.value.errors] == [f"/{field}"]
    assert queries.projects(caller=caller) == ()


@pytest.fixture
def store(caller: Caller, in_organization: object, now: datetime) -> ProjectView:
    """A project."""
    return create_project(caller=caller, slug="store", name="Store", now=now)


def test_a_project_is_changed_field_by_field_and_never_an_older_version(
    caller: Caller, store: ProjectView
) -> None:
    def change(**changes: object) -> ProjectView:
        return change_project(caller=caller, ref="store", changes=changes, if_version=None)

    change(name="Shop")
    change(description="Sells.")
    least = [change(relevance_threshold=value).relevance_threshold for value in (0.4, 0.0, None)]
    change(relevance_threshold=0.4)

    with pytest.raises(PreconditionFailed):
        change_project(caller=caller, ref="store", changes={"name": "Two"}, if_version=6)
    changed = queries.project(caller=caller, ref="store")
    assert (changed.name, changed.description, changed.version) == ("Shop", "Sells.", 7)
    assert [*least, changed.relevance_threshold] == [0.4, 0.0, None, 0.4]
    same = {"name": "Shop"}
    assert change_project(caller=caller, ref="store", changes=same, if_version=7).version == 7


def test_no_program_of_an_owner_says_for_whom_is_what_sessions_teach(
    caller: Caller, store: ProjectView
) -> None:
    program = replace(caller, token_id=uuid4(), scopes=caller.scopes - {TokenScope.REVIEW})
    changes = {"session_lessons": "project"}

    with pytest.raises(Forbidden):
        change_project(caller=program, ref="store", changes=changes, if_version=None)


def test_a_change_is_told_once_and_nothing_is_told_of_none(
    caller: Caller, store: ProjectView
) -> None:
    changes = {"name": "Shop", "description": ""}

    for _ in range(2):
        change_project(caller=caller, ref="store", changes=changes, if_version=None)

    with tenancy.unit():
        (entry,) = AuditEntry.objects.filter(act="project.changed")
    assert entry.fields == ["name"]
    kinds = [one.kind for one in queries.changes_since(caller=caller, after=0, limit=9)]
    assert kinds == ["project.created", "project.changed"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", " "), ("description", "x" * 401), ("relevance_threshold", 1.1), ("slug", "shop")],
)
def test_a_change_that_does_not_fit_is_refused(
    caller: Caller, store: ProjectView, field: str, value: object
) -> None:
    with pytest.raises(InvalidInput) as refused:
        change_project(caller=caller, ref="store", changes={field: value}, if_version=None)

    pointers = [fault.pointer for fault in refused.value.errors]
    assert pointers == ([] if field == "slug" else [f"/{field}"])  # an address is never changed


@pytest.mark.parametrize("role", [Role.STEWARD, Role.MEMBER, Role.VIEWER])
def test_others_and_tokens_bound_to_it_change_no_project_and_no_team(
    caller: Caller, store: ProjectView, role: Role
) -> None:
    create_team(caller=caller, slug="core")
    other = replace(caller, role=role)
    bound = replace(caller, token_id=uuid4(), bound_projects=(store.id,))

    for one, refusal in ((other, RoleNotSufficient), (bound, NotBoundToProject)):
        with pytest.raises(refusal):
            change_project(caller=one, ref="store", changes={"name": "x"}, if_version=None)
    with pytest.raises(RoleNotSufficient):
        create_team(caller=other, slug="ops")
    with pytest.raises(RoleNotSufficient):
        rename_team(caller=other, ref="core", name="Mine", if_version=None)


def test_who_makes_a_team_is_in_it_and_shares_with_it(caller: Caller, now: datetime) -> None:
    made = create_team(caller=caller, slug="core")

    assert (made.slug, made.name, made.version) == ("core", "core", 1)
    (person,) = people_in(caller=caller, kind=Kind.TEAM, ref="core")
    assert person.id == caller.user_id
    assert stored(caller, now, "Keys are kept in the blue safe.", scope="team", team="core").id
    with pytest.raises(SlugTaken):
        create_team(caller=caller, slug="core")


@pytest.mark.parametrize(("slug", "name"), [("Core!", ""), ("core", "x" * 101), ("core", "a\nb")])
def test_what_does_not_fit_is_refused(caller: Caller, slug: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        create_team(caller=caller, slug=slug, name=name)

    assert teams(caller=caller) == ()


def test_an_edit_names_the_version_it_edits(caller: Caller) -> None:
    create_team(caller=caller, slug="core")

    renamed = rename_team(caller=caller, ref="core", name="Core team", if_version=1)

    assert (renamed.name, renamed.version) == ("Core team", 2)
    with pytest.raises(PreconditionFailed):
        rename_team(caller=caller, ref="core", name="Mine", if_version=1)
    assert rename_team(caller=caller, ref="core", name="Core team", if_version=2).version == 2


def test_a_team_is_there_for_those_in_it_and_for_managers(
    caller: Caller, member_caller: Caller
) -> None:
    create_team(caller=caller, slug="core")
    admin = replace(member_caller, role=Role.ADMIN)
    bound = replace(caller, token_id=uuid4(), bound_projects=())

    assert [len(teams(caller=one)) for one in (caller, admin, member_caller, bound)] == [1, 1, 0, 0]
    for hidden in (member_caller, bound):
        with pytest.raises(NotFound):
            team(caller=hidden, ref="core")
