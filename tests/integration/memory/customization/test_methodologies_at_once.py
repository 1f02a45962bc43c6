"""Two methodologies that are defined at the same moment have no type of the same name."""

from datetime import datetime
from threading import Event
from time import monotonic

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.models import Organization
from memory.customization.actions import Course, define_methodology
from memory.customization.custom_type_rules import OwnType
from memory.customization.queries import list_methodologies
from memory.taxonomy import MemoryType
from tests.support.racing import race_inside

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_organization")]

LONGEST_WAIT = 20  # seconds until the other is seen to wait
STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs, and why.")


def refused(caller: Caller, name: str, now: datetime) -> str:
    """Define a methodology with the type; return the code of what is refused, empty for nothing."""
    course = Course(types=(STORY,))
    try:
        define_methodology(
            caller=caller, name=name, phases={"doing": "implement"}, course=course, now=now
        )
    except InvalidInput as error:
        return error.errors[0].code
    return ""


def test_one_type_one_methodology(
    organization: Organization, caller: Caller, now: datetime
) -> None:
    is_written, is_ended = Event(), Event()

    def work(number: int) -> str:
        if number:
            assert is_written.wait(LONGEST_WAIT)
            code = refused(caller, "kanban", now)
            is_ended.set()
            return code
        with tenancy.unit():
            code = refused(caller, "scrum", now)
            is_written.set()
            until_somebody_waits(is_ended)
        return code

    assert race_inside(organization, work, times=2, threads=2) == ["", "taken"]
    assert [one.name for one in list_methodologies(caller=caller) if one.types] == ["scrum"]


def until_somebody_waits(is_ended: Event) -> None:
    """Return once another transaction waits for a lock of ours, or did not and has ended."""
    until = monotonic() + LONGEST_WAIT
    with connection.cursor() as cursor:
        while monotonic() < until and not is_ended.is_set():
            cursor.execute(
                "SELECT count(*) FROM pg_locks AS l WHERE NOT granted"
                " AND pg_backend_pid() = ANY(pg_blocking_pids(l.pid))"
            )
            if cursor.fetchone()[0]:
                return
    assert is_ended.is_set(), "nobody waited"
