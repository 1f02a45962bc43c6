"""What `/metrics` gives, to whom, and that processes count together."""

import fcntl
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx
import pytest
from django.conf import LazySettings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from accounts import jobs
from accounts.caller import Caller
from accounts.models import Organization
from accounts.tenancy import Tenant
from config import env, metrics, telemetry
from memory.search.actions import STAGES, search
from memory.search.request import SearchRequest
from tests.conftest import NOW
from tests.support import people

TOKEN: Final = "a token of the operator, long enough"
COUNTS: Final = """
from accounts import metrics
metrics.REQUESTS.labels("/counted", "GET", 200).inc(2)
metrics.REQUEST_SECONDS.labels("/counted", "GET").observe(0.02)
metrics.LIVE_PAGES.inc()
"""


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Return the values by name and labels, these as `key=value`."""
    return {
        (sample.name, *(f"{key}={value}" for key, value in sorted(sample.labels.items()))):
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }  # fmt: skip


def scraped(client: Client) -> dict[tuple[str, ...], float]:
    """Return what a scrape of this machine gives."""
    return samples(client.get("/metrics").content.decode())


@pytest.mark.django_db
def test_requests_are_counted_by_route_and_say_nothing_of_what_was_asked(client: Client) -> None:
    asked = str(uuid4())
    labels = ("method=GET", "route=/api/v1/memories/{id}", "status=401")
    names = (
        ("cairn_http_requests_total", *labels),
        ("cairn_http_request_seconds_count", *labels[:2]),
    )
    before = [scraped(client).get(name, 0) for name in names]

    client.get(f"/api/v1/memories/{asked}")
    client.get(f"/{asked}")
    answer = client.get("/metrics")

    text = answer.content.decode()
    assert [samples(text)[name] for name in names] == [count + 1 for count in before]
    assert asked not in text
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ("api/v1/^memories/(?P<id>[^/]+)/restore/?$", "/api/v1/memories/{id}/restore"),
        ("o/<slug:org>/settings/members/<uuid:user_id>", "/o/{org}/settings/members/{user_id}"),
        ("^docs/api/?$", "/docs/api"),
        ("", "/"),
    ],
)
def test_routes_are_written_as_people_write_them(route: str, expected: str) -> None:
    assert telemetry.route_template(route) == expected


@pytest.mark.django_db
def test_only_this_machine_may_read_and_only_while_nobody_else_can_be_in_front(
    client: Client, settings: LazySettings
) -> None:
    here = client.get("/metrics").status_code
    elsewhere = client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code
    forwarded = client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code
    settings.BASE_URL = "https://cairn.example.com"
    public = client.get("/metrics")

    assert (here, elsewhere, forwarded, public.status_code) == (200, 401, 401, 401)
    assert b"CAIRN_METRICS_TOKEN" in public.content
    assert b"cairn_" not in public.content


@pytest.mark.django_db
def test_where_there_is_a_token_only_the_token_counts(
    client: Client, settings: LazySettings
) -> None:
    settings.METRICS_TOKEN = TOKEN
    headers = {"none": {}, "wrong": {"Authorization": f"Bearer {TOKEN}!"}}

    refused = {name: client.get("/metrics", headers=sent) for name, sent in headers.items()}
    given = client.get(
        "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, REMOTE_ADDR="192.0.2.7"
    )

    assert {answer.status_code for answer in refused.values()} == {401}
    assert given.status_code == 200


@pytest.mark.django_db
def test_waiting_jobs_are_counted_and_their_age_is_given(
    client: Client, organization: Organization
) -> None:
    with people.entered(organization=organization):
        jobs.enqueue("memory.run_import", payload={"text": "a canary"})

    text = client.get("/metrics").content.decode()

    found = samples(text)
    assert found["cairn_jobs", "name=memory.run_import", "queue=bulk", "state=queued"] == 1
    assert found["cairn_job_oldest_due_seconds", "queue=bulk"] >= 0
    assert found["cairn_job_oldest_due_seconds", "queue=interactive"] == 0
    assert found["cairn_check_ok", "check=database"] == 1
    assert "canary" not in text


@pytest.mark.django_db
def test_organizations_are_named_only_where_the_operator_wants_it(
    client: Client, settings: LazySettings, organization: Organization
) -> None:
    closed = client.get("/metrics").content.decode()
    settings.METRICS_ORGANIZATIONS = True
    named = scraped(client)

    assert samples(closed)["cairn_organizations",] >= 1
    assert ("cairn_memories",) in samples(closed)
    assert organization.slug not in closed
    assert ("cairn_memories", f"organization={organization.slug}") in named


@pytest.mark.django_db
def test_a_search_counts_its_stages(
    client: Client, caller: Caller, in_organization: Tenant
) -> None:
    def counted() -> dict[str, float]:
        found = scraped(client)
        name = "cairn_search_stage_seconds_count"
        return {stage: found[name, f"stage={stage}"] for stage in STAGES}

    before = counted()
    request = SearchRequest(query="retries of calls")
    answer = search(caller=caller, request=request, now=NOW)

    after = counted()
    assert answer.stages
    assert after == {stage: before[stage] + (stage in answer.stages) for stage in STAGES}


def test_processes_count_together_and_those_that_ended_are_added_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path))
    for _ in range(3):
        subprocess.run([sys.executable, "-c", COUNTS], cwd=env.ROOT, check=True)
    gauges = tuple(tmp_path.glob("gauge_*"))

    first, second = (samples(metrics.exposition(with_stored=False).decode()) for _ in range(2))

    labels = ("method=GET", "route=/counted")
    assert first == second
    assert first["cairn_http_requests_total", *labels, "status=200"] == 6
    assert first["cairn_http_request_seconds_count", *labels] == 3
    assert first["cairn_http_request_seconds_bucket", "le=0.01", *labels] == 0
    assert first["cairn_http_request_seconds_bucket", "le=0.025", *labels] == 3
    assert len(gauges) == 3
    assert ("cairn_live_pages",) not in first
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "counter_0.db", "histogram_0.db"}


def test_who_begins_to_report_adds_up_those_that_ended_though_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path))
    subprocess.run([sys.executable, "-c", COUNTS], cwd=env.ROOT, check=True)

    metrics.start_reporting(program="worker")

    assert {path.name for path in tmp_path.iterdir()} == {"lock", "counter_0.db", "histogram_0.db"}


def test_a_process_forked_during_a_scrape_does_not_keep_the_lock(tmp_path: Path) -> None:
    with metrics._held(tmp_path) as lock:
        inherited = os.dup(lock)  # the open file that a fork would share

    with (tmp_path / "lock").open() as again:
        is_free = fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB) is None

    os.close(inherited)
    assert is_free


def test_a_worker_answers_at_a_port_of_its_own(settings: LazySettings) -> None:
    settings.METRICS_TOKEN = TOKEN
    server = metrics.serve_worker(host="127.0.0.1", port=0)
    address = f"http://127.0.0.1:{server.server_port}"
    silent = socket.create_connection(("127.0.0.1", server.server_port))

    refused = httpx.get(f"{address}/metrics")
    given = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    silent.close()
    server.shutdown()
    server.server_close()

    assert refused.status_code == 401
    assert "cairn_job_seconds" in given.text
    assert "cairn_organizations" not in given.text


@pytest.mark.django_db
def test_every_query_of_the_dashboard_asks_for_a_metric_that_is_given(client: Client) -> None:
    dashboard = json.loads((env.ROOT / "deploy/grafana/cairn.json").read_text(encoding="utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", client.get("/metrics").content.decode(), re.M))
    given = {
        f"{name}{end}"
        for name, kind in types.items()
        for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
    }

    asked = {name for target in targets for name in re.findall(r"\bcairn_\w+", target["expr"])}

    scaling = (env.ROOT / "deploy/kubernetes/keda/scaling.yaml").read_text(encoding="utf-8")

    assert len(targets) > 24
    assert (asked | set(re.findall(r"\bcairn_\w+", scaling))) - given == set()
    assert {name for name in types if name.startswith("cairn_")} == {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in asked
    }
