"""Topics are sorted by hand, and queued each night once."""

from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.caller import Caller
from accounts.models import Job
from memory.topics import actions as topics_actions
from tests.integration.memory.topics.test_sorting import CARTS
from tests.support import people
from tests.support.memories import stored


def test_the_command_tells_how_far_it_is_and_what_came_of_it(
    caller: Caller, store: str, now: datetime
) -> None:
    for text in CARTS:
        stored(caller, now, text, project=store)
    said = StringIO()

    with people.outside():
        call_command("sort_topics", tenant="acme", stdout=said)

    assert said.getvalue().splitlines() == [
        "acme: 4 of 4 memories",
        "acme: 1 topics of 4 memories in 1 places",
    ]


@pytest.mark.django_db
def test_an_organization_that_is_not_there_is_refused() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("sort_topics", tenant="nowhere")


@pytest.mark.usefixtures("in_organization")
def test_a_night_queues_one_job_however_often_it_is_asked() -> None:
    topics_actions.queue()
    topics_actions.queue()

    assert Job.objects.filter(name=topics_actions.JOB).count() == 1
