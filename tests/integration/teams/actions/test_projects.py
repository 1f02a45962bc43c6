"""A project gets a name and a description that fit, or is not made at all."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import InvalidInput, PreconditionFailed
from teams import queries
from teams.actions.projects import change_project, create_project
from teams.errors import NotBoundToProject, RoleNotSufficient
from teams.models import AuditEntry
from teams.queries import ProjectView

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


def test_a_project_is_changed_field_by_field(caller: Caller, store: ProjectView) -> None:
    given = ({"name": "Shop"}, {"description": "Sells."}, {"relevance_threshold": 0.4})

    for changes in given:
        change_project(caller=caller, ref="store", changes=changes, if_version=None)

    changed = queries.project(caller=caller, ref="store")
    assert (changed.name, changed.description, changed.version) == ("Shop", "Sells.", 4)
    assert changed.relevance_threshold == 0.4


def test_a_threshold_is_taken_away_by_nothing(caller: Caller, store: ProjectView) -> None:
    for value in (0.0, None):
        changes = {"relevance_threshold": value}
        changed = change_project(caller=caller, ref="store", changes=changes, if_version=None)

        assert changed.relevance_threshold == value


def test_an_edit_of_an_older_version_is_refused(caller: Caller, store: ProjectView) -> None:
    change_project(caller=caller, ref="store", changes={"name": "One"}, if_version=store.version)

    with pytest.raises(PreconditionFailed):
        change_project(caller=caller, ref="store", changes={"name": "Two"}, if_version=1)

    assert queries.project(caller=caller, ref="store").name == "One"


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
    [("name", " "), ("description", "x" * 401), ("relevance_threshold", 1.1)],
)
def test_a_change_that_does_not_fit_is_refused(
    caller: Caller, store: ProjectView, field: str, value: object
) -> None:
    with pytest.raises(InvalidInput) as refused:
        change_project(caller=caller, ref="store", changes={field: value}, if_version=None)

    assert [fault.pointer for fault in refused.value.errors] == [f"/{field}"]


def test_an_address_is_not_changed(caller: Caller, store: ProjectView) -> None:
    with pytest.raises(InvalidInput):
        change_project(caller=caller, ref="store", changes={"slug": "shop"}, if_version=None)


@pytest.mark.parametrize("role", [Role.STEWARD, Role.MEMBER, Role.VIEWER])
def test_others_change_no_project(caller: Caller, store: ProjectView, role: Role) -> None:
    with pytest.raises(RoleNotSufficient):
        change_project(
            caller=replace(caller, role=role), ref="store", changes={"name": "x"}, if_version=None
        )


def test_a_token_bound_to_the_project_does_not_change_it(
    caller: Caller, store: ProjectView
) -> None:
    bound = replace(caller, token_id=uuid4(), bound_projects=(store.id,))

    with pytest.raises(NotBoundToProject):
        change_project(caller=bound, ref="store", changes={"name": "x"}, if_version=None)
