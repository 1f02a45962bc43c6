"""Liveness and readiness as load balancers see them (config.health)."""

import pytest
from django.test import Client

from config import health
from config.health import Check


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the checks will find; asked anew in each test."""
    findings: list[Check] = []
    monkeypatch.setattr(health, "readiness", lambda: tuple(findings))
    monkeypatch.setattr(health, "FINDINGS", health.Findings())
    return findings


def finding(name: str, *, ok: bool) -> Check:
    return Check(name=name, ok=ok, detail="secret path", fix="secret fix")


def test_live_needs_nothing(client: Client) -> None:
    answer = client.get("/health/live")

    assert answer.status_code == 200


def test_installation_without_a_worker_still_serves(client: Client, found: list[Check]) -> None:
    found += [finding("database", ok=True), finding("worker", ok=False)]

    answer = client.get("/health/ready")

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "degraded",
        "checks": {"database": True, "worker": False},
    }


def test_installation_without_its_database_is_left_alone(
    client: Client, found: list[Check]
) -> None:
    found += [finding("database", ok=False)]

    answer = client.get("/health/ready")

    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert b"secret" not in answer.content


def test_findings_are_not_asked_for_at_every_request(client: Client, found: list[Check]) -> None:
    found += [finding("database", ok=True)]
    client.get("/health/ready")

    found.append(finding("redis", ok=False))

    assert client.get("/health/ready").json()["status"] == "ready"


@pytest.mark.django_db
def test_real_installation_names_every_check(client: Client) -> None:
    health.FINDINGS = health.Findings()

    checks = client.get("/health/ready").json()["checks"]

    assert set(checks) == {
        *("database", "migrations", "organizations", "beat", "jobs", "redis", "worker", "disk"),
        "scanner",
    }
