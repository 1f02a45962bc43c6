"""A project gets a name and a description that fit, or is not made at all (spec 7.1, 10.5)."""

from datetime import datetime

import pytest

from accounts.caller import Caller
from accounts.errors import InvalidInput
from teams import queries
from teams.actions.projects import create_project

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
