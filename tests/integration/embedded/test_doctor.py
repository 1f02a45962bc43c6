"""Each check says what is wrong and how to mend it (config.health, manage.py doctor)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from accounts.models import Job, Organization, Slot
from accounts.tenancy.rls import Powers
from config import health
from memory.providers import registry
from memory.providers.guard import ProviderSettings
from tests.support import marking
from tests.support.marking import put_altered

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library for the reader of names that stops who imports it."""
    marking.put_library(tmp_path / "library")
    monkeypatch.syspath_prepend(str(tmp_path / "library"))


def test_what_is_well_is_told_so(organization: Organization, now: datetime) -> None:
    Slot.objects.create(name="sweep", starts_at=now)
    checks = (
        health.check_database,
        health.check_migrations,
        health.check_tenants,
        health.check_beat,
        health.check_quarantine,
        health.check_wall,
    )

    found = {check.__name__.removeprefix("check_"): check() for check in checks}

    assert [finding for finding in found.values() if not finding.ok] == []
    assert found["database"].detail.startswith("PostgreSQL 18 with pgvector 0.8")
    assert found["wall"].detail == "row-level security holds for the role cairn_app"


def test_database_that_is_away_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    away: dict[str, Any] = {"host": "127.0.0.1", "port": 1, "connect_timeout": 2}
    monkeypatch.setattr(connection, "get_connection_params", lambda: away)

    findings = health.readiness()

    assert findings[0].name == "database"
    assert not findings[0].ok
    assert "DATABASE_URL" in findings[0].fix
    told = {finding.name for finding in findings}
    assert told == {"database", "redis", "worker", "disk", "scanner"}


@pytest.mark.parametrize(
    ("version", "vector", "said"),
    [
        (150_004, "0.8.1", "PostgreSQL 15 is too old"),
        (180_006, "", "pgvector is not there"),
        (180_006, "0.7.4", "pgvector 0.7.4 is too old"),
    ],
)
def test_too_old_servers_are_told(version: int, vector: str, said: str) -> None:
    finding = health.judge_versions(version=version, vector=vector)

    assert not finding.ok
    assert finding.detail == said


@pytest.mark.parametrize(
    ("powers", "said"),
    [
        ({"is_superuser": True}, "does not hold for the role one, which is a superuser"),
        ({"bypasses": True}, "does not hold for the role one, which may bypass it"),
        ({"owned_tables": 3}, "the role one owns 3 tables, so it could open it"),
    ],
)
def test_a_role_that_could_pass_the_wall_is_told(powers: dict[str, Any], said: str) -> None:
    none = Powers(role="one", is_superuser=False, bypasses=False, owned_tables=0)

    finding = health.judge_powers(powers=none._replace(**powers))

    assert not finding.ok
    assert said in finding.detail
    assert "manage.py roles" in finding.fix


def test_organization_that_is_behind_and_a_clock_that_never_ran_are_told(
    organization: Organization,
) -> None:
    Organization.objects.filter(pk=organization.pk).update(schema_version=0)

    finding = health.check_tenants()
    assert "1 organizations are behind" in finding.detail
    assert finding.fix == "Run: manage.py migrate_tenants"
    assert health.check_beat().detail == "no scheduled job has ever run"


def queued(organization: Organization, **given: Any) -> None:
    Job.objects.create(organization=organization, name="memory.embed", queue="interactive", **given)


@pytest.mark.parametrize(
    ("due_seconds", "job", "detail"),
    [
        (0, {"result": {"waits": 2}, "error": "It is away."}, "1 wait: It is away."),
        (400, {}, "the oldest has been due for 400 s"),
        (20, {}, "none is late"),
    ],
)
def test_jobs_that_wait_or_are_late_are_told(
    organization: Organization, due_seconds: int, job: dict[str, Any], detail: str
) -> None:
    queued(organization, run_after=Now() - timedelta(seconds=due_seconds), **job)

    finding = health.check_jobs()

    assert (finding.ok, finding.detail) == (not job and due_seconds < 300, detail)


def test_jobs_put_aside_are_told_to_a_person_only(organization: Organization) -> None:
    queued(organization, run_after=Now(), state="quarantined")

    assert health.check_quarantine().detail == "1 jobs were put aside"
    assert "quarantine" not in {finding.name for finding in health.readiness()}


def test_redis_that_is_away_is_told_and_no_worker_is_asked_for(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    found = {finding.name: finding for finding in health.readiness()}

    assert not found["redis"].ok
    assert "REDIS_URL" in found["redis"].fix
    assert found["worker"].detail == "it cannot be asked without Redis"


def test_missing_models_are_told_and_a_reader_of_names_only_where_its_bytes_are_others(
    tmp_path: Path, settings: Any, reader_library: None
) -> None:
    settings.CAIRN_PROVIDERS = {**settings.CAIRN_PROVIDERS, "models_dir": tmp_path}
    weights, not_installed = health.check_weights(), health.check_name_reader()
    settings.CAIRN_PROVIDERS = {**settings.CAIRN_PROVIDERS, "models_dir": put_altered(tmp_path)}
    altered = health.check_name_reader()

    assert (weights.ok, not_installed.ok, altered.ok) == (False, True, False)
    assert f"--into {tmp_path}" in weights.fix
    assert "the extra is not installed (make ner)" in not_installed.detail
    assert altered.fix.endswith("and run: make ner")


@pytest.fixture
def spoiled_models(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "secret-rules").write_text("a file where the folder should be")
    registry.configure(settings=ProviderSettings(models_dir=tmp_path))
    yield
    registry.reset()


@pytest.mark.usefixtures("spoiled_models")
def test_rules_about_secrets_that_cannot_be_read_are_told() -> None:
    finding = health.check_scanner()

    assert not finding.ok
    assert "File exists" in finding.detail
    assert "folder of the models" in finding.fix


def test_wrong_secrets_plain_http_and_a_full_disk_are_told(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SECRET_KEY = settings.TOKEN_PEPPER = "x" * 40
    assert health.check_secrets().detail == "both are the same text"
    settings.SECRET_KEY = "short"
    assert health.check_secrets().detail == "one has only 5 characters"
    settings.BASE_URL = "http://cairn.example.org"
    assert "in the clear" in health.check_address().detail
    monkeypatch.setattr(health, "LEAST_FREE_BYTES", 10**18)
    assert not health.check_disk().ok


def test_doctor_exits_with_one_when_something_is_wrong(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"

    with pytest.raises(SystemExit) as ended:
        call_command("doctor")

    assert ended.value.code == 1
    assert "✗ web: http://127.0.0.1:1 does not answer" in capsys.readouterr().out
