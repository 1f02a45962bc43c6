"""What all organizations share, cache, locks, groups, jobs and logs, names the one it is of."""

import logging
import re
from datetime import datetime

import pytest
from django.core.cache import cache

from accounts import jobs, tasks, tenancy
from accounts.caller import Caller
from accounts.jobs import Claim
from accounts.models import Job, Organization
from config.telemetry import LineFormatter
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support import people
from tests.support.memories import REDIS, stored

GROUP_NAME = re.compile(r"[A-Za-z0-9._-]{1,99}\Z")  # what a channel layer takes


def test_outside_of_an_organization_nothing_is_named() -> None:
    timed = {"remember": {"value": 1, "seconds": 1}, "count": {"seconds": 1}}
    for name in ("key", "group", "cached", "counted", *timed):
        with pytest.raises(tenancy.NoTenant):
            getattr(tenancy, name)("x", **timed.get(name, {}))
    with pytest.raises(tenancy.NoTenant):
        tenancy.at_end_of_unit(lambda: None)


def test_two_organizations_share_no_name(
    organization: Organization, other_organization: Organization
) -> None:
    names = []
    for one in (organization, other_organization):
        with people.entered(organization=one):
            names += [tenancy.key("calls", "x"), tenancy.group("changes")]

    assert len(set(names)) == 4
    assert all(GROUP_NAME.match(name) for name in names[1::2])


@pytest.mark.usefixtures("clean_cache")
def test_each_organization_counts_and_caches_its_own(
    organization: Organization, other_organization: Organization
) -> None:
    found = []
    for one in (organization, other_organization, organization):
        with people.entered(organization=one):
            tenancy.count("asked", seconds=60)
            found.append((tenancy.counted("asked"), tenancy.cached("count")))
            tenancy.remember("count", value=one.slug, seconds=60)

    assert found == [(1, None), (1, None), (2, organization.slug)]


@pytest.mark.usefixtures("clean_cache")
def test_a_value_that_a_mixed_up_connection_returns_is_not_believed(
    organization: Organization, other_organization: Organization
) -> None:
    with people.entered(organization=other_organization):
        theirs = tenancy.key("count")
    with people.entered(organization=organization):
        tenancy.remember("count", value=7, seconds=60)
        cache.set(theirs, cache.get(tenancy.key("count")), 60)

    with people.entered(organization=other_organization):
        assert tenancy.cached("count") is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_organization")
def test_a_job_runs_in_the_organization_that_enqueued_it(
    organization: Organization, other_organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran_in: list[tenancy.Tenant] = []

    def note(claim: Claim) -> dict[str, int]:
        ran_in.append(tenancy.current())
        return {}

    monkeypatch.setitem(jobs._handlers, "memory.embed", note)
    with tenancy.unit():
        jobs.enqueue("memory.embed", payload={})

    with people.outside():
        tasks.wake("interactive")

    assert [tenant.organization_id for tenant in ran_in] == [organization.id]


@pytest.mark.usefixtures("in_organization")
def test_a_job_carries_ids_and_no_content(caller: Caller, now: datetime) -> None:
    stored(caller, now)

    carried = [repr(job.payload) for job in Job.objects.all()]
    assert not any(word in text for text in carried for word in ("Redis", "ECONNREFUSED"))


@pytest.mark.usefixtures("in_organization")
def test_a_log_line_names_the_organization_and_holds_no_content(
    caller: Caller, organization: Organization, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stored(caller, now)
    search(caller=caller, request=SearchRequest(query="token refresh ECONNREFUSED"), now=now)
    logging.getLogger("memory").warning("Something happened")

    lines = [LineFormatter().format(record) for record in caplog.records]
    assert organization.id.hex in lines[-1].replace("-", "") or organization.slug in lines[-1]
    product = [line for line in lines if "django.db" not in line]
    assert not any(word in line for line in product for word in (REDIS, "ECONNREFUSED"))
