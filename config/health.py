"""What is wrong with an installation, one small check each.

`/health/ready` runs `readiness`, which is cheap enough to be asked every few seconds; `manage.py
doctor` runs `diagnosis`, which also compares model files, settings and the port. A check never
raises: what it could not reach is its finding. Checks that need the database are left out when it
is away, because they would all say the same.

Anyone may ask `/health/live` and `/health/ready`, as supervisors and load balancers do, so the
answer names the checks and no details, and findings are kept for a few seconds. Only what no
request can do without makes an installation unavailable: without Redis or a worker it still
searches and stores, so that is told as degraded with status 200.
"""

import http.client
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis
from celery import current_app
from django.conf import settings
from django.db import Error as DatabaseFault
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError as BrokerFault

from accounts.jobs import BACKUP_SLOT
from accounts.models import SchemaStep
from accounts.tenancy import provisioning, rls
from config.celery import SWEEP_SECONDS
from config.env import MINIMUM_SECRET_LENGTH
from memory.providers import name_reader, weights
from memory.providers.name_reader import Readiness
from memory.providers.weights import NAME_READER
from memory.secrets import scanner

CONNECT_SECONDS = 2
ANSWER_SECONDS = 1.0
OLDEST_POSTGRES = 160_000  # server_version_num of 16.0
OLDEST_PGVECTOR = (0, 8)  # iterative scans
BEAT_SILENCE_SECONDS = 18 * SWEEP_SECONDS  # the sweep is the most frequent row
LATE_JOB_SECONDS = 300
LEAST_FREE_BYTES = 500_000_000
KEPT_SECONDS = 5.0
RETRY_AFTER_SECONDS = 5
OLDEST_BACKUP = timedelta(hours=26)  # a night and what the backup takes
LAST_SLOT = """
SELECT extract(epoch FROM now() - max(taken_at))::int FROM accounts_slot WHERE name <> %s
"""
LAST_BACKUP = """
SELECT max(starts_at), statement_timestamp() - max(starts_at) FROM accounts_slot WHERE name = %s
"""
ESSENTIAL = frozenset({"database", "migrations", "organizations"})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding: what was looked at, whether it is well, what was seen, how to mend it."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


Probe = Callable[[], Check]


def readiness() -> tuple[Check, ...]:
    """Return the findings that decide whether this installation can serve requests."""
    return _run(stored=READINESS, local=(check_disk, check_scanner))


def diagnosis() -> tuple[Check, ...]:
    """Return every finding, for a person."""
    local = (
        check_disk,
        check_weights,
        check_name_reader,
        check_scanner,
        check_secrets,
        check_address,
        check_web,
    )
    return _run(stored=(*READINESS, check_quarantine, check_wall), local=local)


def check_database() -> Check:
    """Ask a fresh connection for the versions, so that a used-up pool does not hide a fault."""
    try:
        parameters = {**connection.get_connection_params(), "connect_timeout": CONNECT_SECONDS}
        with psycopg.connect(**parameters) as fresh:
            row = fresh.execute(
                "SELECT current_setting('server_version_num')::int, coalesce("
                "(SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
                "(SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), '')"
            ).fetchone()
    except psycopg.Error as error:
        fix = "Start the database, or correct DATABASE_URL."
        return _wrong("database", f"it cannot be reached: {_line(error)}", fix)
    version, vector = row or (0, "")
    return judge_versions(version=version, vector=vector)


def judge_versions(*, version: int, vector: str) -> Check:
    """Say whether the server and pgvector are new enough; `version` as server_version_num."""
    if version < OLDEST_POSTGRES:
        detail = f"PostgreSQL {version // 10_000} is too old"
        return _wrong("database", detail, "Use PostgreSQL 16 or newer.")
    if not vector:
        return _wrong("database", "pgvector is not there", "Install pgvector 0.8 or newer.")
    if tuple(int(part) for part in vector.split(".")[:2]) < OLDEST_PGVECTOR:
        return _wrong("database", f"pgvector {vector} is too old", "Update it to 0.8 or newer.")
    return _well("database", f"PostgreSQL {version // 10_000} with pgvector {vector}")


def check_migrations() -> Check:
    """Compare the shared tables with the code."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    missing = [step for step, _ in plan if step.app_label not in settings.TENANT_APPS]
    if missing:
        detail = f"{len(missing)} migrations of the shared tables are missing, first {missing[0]}"
        return _wrong("migrations", detail, "Run: manage.py migrate")
    if unset := rls.missing_connection_defaults():
        return _wrong(
            "migrations", f"connections start without {unset[0]}", "Run: manage.py migrate"
        )
    return _well("migrations", "the shared tables are up to date")


def check_tenants() -> Check:
    """Compare the organizations' schemas with the code."""
    on_disk = MigrationLoader(None).disk_migrations or {}
    wanted = {".".join(name) for name in on_disk if name[0] in settings.TENANT_APPS}
    uncaptured = wanted - set(SchemaStep.objects.values_list("name", flat=True))
    late = len(provisioning.behind())
    if uncaptured or late:
        detail = f"{len(uncaptured)} steps are not captured and {late} organizations are behind"
        return _wrong("organizations", detail, "Run: manage.py migrate_tenants")
    return _well("organizations", "every schema is up to date")


def check_beat() -> Check:
    """Look for the newest slot taken, by the database's own time; a busy worker takes none."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_SLOT, [BACKUP_SLOT])
        silence = cursor.fetchone()[0]
    fix = "Start the clock (celery -A config beat), or more workers if all are busy."
    if silence is None:
        return _wrong("beat", "no scheduled job has ever run", fix)
    if silence > BEAT_SILENCE_SECONDS:
        return _wrong("beat", f"no scheduled job has run for {silence} s", fix)
    return _well("beat", f"a scheduled job ran {silence} s ago")


def check_jobs() -> Check:
    """Look for jobs that wait for something that is away, and for due ones that nobody does."""
    found = rls.held_up()
    if found.waiting:
        fix = "They are tried again by themselves; mend what they wait for."
        return _wrong("jobs", f"{found.waiting} wait: {found.reason}", fix)
    if found.late_seconds > LATE_JOB_SECONDS:
        fix = "Start a worker (celery -A config worker), or more of them."
        return _wrong("jobs", f"the oldest has been due for {found.late_seconds} s", fix)
    return _well("jobs", "none is late")


def check_quarantine() -> Check:
    """Count the jobs that were put aside and wait for a person."""
    put_aside = rls.held_up().put_aside
    if put_aside:
        fix = "See why: GET /api/v1/jobs?state=quarantined; then POST /api/v1/jobs/{id}/retry"
        return _wrong("quarantine", f"{put_aside} jobs were put aside", fix)
    return _well("quarantine", "no job was put aside")


def check_wall() -> Check:
    """Look whether row-level security holds for the role this program connects as."""
    return judge_powers(powers=rls.powers())


def judge_powers(*, powers: rls.Powers) -> Check:
    """Say what the role could do past the second wall."""
    fix = "Run: manage.py roles"
    if powers.is_superuser or powers.bypasses:
        kind = "is a superuser" if powers.is_superuser else "may bypass it"
        detail = f"row-level security does not hold for the role {powers.role}, which {kind}"
        return _wrong("wall", detail, fix)
    if powers.owned_tables:
        detail = f"the role {powers.role} owns {powers.owned_tables} tables, so it could open it"
        return _wrong("wall", detail, fix)
    return _well("wall", f"row-level security holds for the role {powers.role}")


def check_backup() -> Check:
    """Look when the last backup was made."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_BACKUP, [BACKUP_SLOT])
        made_at, age = cursor.fetchone()
    return judge_backup(made_at=made_at, age=age)


def judge_backup(*, made_at: datetime | None, age: timedelta | None) -> Check:
    """Say whether the last backup is recent enough where they are made every night."""
    fix = "See what the program `backup` printed, or run: manage.py backup"
    detail = "none was made" if made_at is None else f"the last is of {made_at:%Y-%m-%d %H:%M} UTC"
    if settings.BACKUP_TO and (age is None or age > OLDEST_BACKUP):
        return _wrong("backup", detail, fix)
    return _well("backup", detail)


def check_redis() -> Check:
    """Ask the cache and queue server for a sign of life."""
    client = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
    try:
        client.ping()
    except redis.RedisError as error:
        fix = "Start Redis or Valkey, or correct REDIS_URL."
        return _wrong("redis", f"it does not answer: {_line(error)}", fix)
    finally:
        client.close()
    return _well("redis", "it answers")


def check_worker() -> Check:
    """Ask for one worker; the first answer is enough."""
    try:
        answers = current_app.control.ping(timeout=ANSWER_SECONDS, limit=1)
    except (BrokerFault, redis.RedisError, OSError) as error:
        return _wrong("worker", f"it cannot be asked: {_line(error)}", "Start Redis or Valkey.")
    if not answers:
        return _wrong("worker", "none answers", "Start one: celery -A config worker")
    return _well("worker", "it answers")


def check_disk() -> Check:
    """Look at the room left under the data folder."""
    folder = Path(settings.CAIRN_HOME)
    place = next(part for part in (folder, *folder.absolute().parents) if part.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free // 1_000_000} MB are free under {place}"
    if free < LEAST_FREE_BYTES:
        return _wrong("disk", detail, f"Free {LEAST_FREE_BYTES // 1_000_000} MB there.")
    return _well("disk", detail)


def check_weights() -> Check:
    """Compare the model files with their pinned hashes."""
    folder = Path(settings.CAIRN_PROVIDERS["models_dir"])
    faults = weights.faults(folder=folder)
    if faults:
        fix = f"Run: python -m memory.providers.weights --into {folder}"
        return _wrong("models", f"{faults[0]} ({len(faults)} faults)", fix)
    return _well("models", f"the files in {folder} are as pinned")


def check_name_reader() -> Check:
    """Look whether names can be read at night; it is an extra, so its absence is no fault."""
    folder = Path(settings.CAIRN_PROVIDERS["models_dir"])
    found = name_reader.readiness(models_dir=folder)
    if found is Readiness.ALTERED:
        fix = f"Delete {folder / NAME_READER.name} and run: make ner"
        return _wrong("names", "the model that reads them is not as pinned", fix)
    if found is Readiness.NOT_INSTALLED:
        detail = "people and places in texts are not read, the extra is not installed (make ner)"
        return _well("names", detail)
    return _well("names", "the model that reads people and places is as pinned")


def check_scanner() -> Check:
    """Look whether texts can be searched for secrets: without the rules nothing is stored."""
    if fault := scanner.fault():
        fix = "Install the packages again, and let the folder of the models be written to."
        return _wrong("scanner", f"its rules cannot be read: {fault}", fix)
    return _well("scanner", "the rules about secrets are loaded")


def check_secrets() -> Check:
    """Look whether the secrets are long enough and differ."""
    fix = "Set CAIRN_SECRET_KEY and CAIRN_TOKEN_PEPPER to different random texts."
    shortest = min(len(settings.SECRET_KEY), len(settings.TOKEN_PEPPER))
    if shortest < MINIMUM_SECRET_LENGTH:
        return _wrong("secrets", f"one has only {shortest} characters", fix)
    if settings.SECRET_KEY == settings.TOKEN_PEPPER:
        return _wrong("secrets", "both are the same text", fix)
    return _well("secrets", "both are set")


def check_address() -> Check:
    """Look whether the public address can be trusted with sign-in."""
    parts = urlsplit(settings.BASE_URL)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        fix = "Put a proxy with a certificate in front and set CAIRN_BASE_URL to its https address."
        return _wrong("address", f"{settings.BASE_URL} sends passwords in the clear", fix)
    if "*" in settings.ALLOWED_HOSTS:
        return _wrong("address", "any Host header is believed", "Name them in CAIRN_ALLOWED_HOSTS.")
    return _well("address", settings.BASE_URL)


def check_web() -> Check:
    """Ask the web server at its public address for its liveness page."""
    parts = urlsplit(settings.BASE_URL)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    line = kind(parts.hostname or "localhost", parts.port, timeout=CONNECT_SECONDS)
    try:
        line.request("GET", f"{parts.path}/health/live")
        status = line.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        fix = "Start the web server, or correct CAIRN_BASE_URL and CAIRN_PORT."
        return _wrong("web", f"{settings.BASE_URL} does not answer: {_line(error)}", fix)
    finally:
        line.close()
    if status != http.HTTPStatus.OK:
        fix = "Stop the other program on that port, or choose another by CAIRN_PORT."
        return _wrong("web", f"{settings.BASE_URL} answers {status}, so it is not Cairn", fix)
    return _well("web", f"{settings.BASE_URL} answers")


def _run(*, stored: tuple[Probe, ...], local: tuple[Probe, ...]) -> tuple[Check, ...]:
    first, store = check_database(), check_redis()
    asked = stored if first.ok else ()
    found = tuple(_guarded(probe) for probe in asked)
    if store.ok:
        worker = check_worker()
    else:  # a Redis that hangs would be waited for again
        fix = "Start Redis or Valkey."
        worker = _wrong("worker", "it cannot be asked without Redis", fix)
    return (first, *found, store, worker, *(probe() for probe in local))


def _guarded(probe: Probe) -> Check:
    try:
        return probe()
    except DatabaseFault as error:
        name = probe.__name__.removeprefix("check_")
        return _wrong(name, f"it cannot be read: {_line(error)}", "Run: manage.py migrate")


READINESS = (check_migrations, check_tenants, check_beat, check_jobs, check_backup)


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _well(name: str, detail: str) -> Check:
    return Check(name=name, ok=True, detail=detail)


def _wrong(name: str, detail: str, fix: str) -> Check:
    return Check(name=name, ok=False, detail=detail, fix=fix)


class Findings:
    """The latest findings of this process, asked for again when they are older than a few seconds.

    One thread asks at a time; the others wait for its answer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checks: tuple[Check, ...] = ()
        self._asked_at = float("-inf")

    def latest(self) -> tuple[Check, ...]:
        """Return the findings, at most `KEPT_SECONDS` old."""
        with self._lock:
            if time.monotonic() - self._asked_at > KEPT_SECONDS:
                self._checks = readiness()
                self._asked_at = time.monotonic()
            return self._checks


FINDINGS = Findings()


@require_safe
def live(_request: HttpRequest) -> HttpResponse:
    """Answer as long as the process can answer at all."""
    return HttpResponse("live\n", content_type="text/plain")


@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 when requests can be served, 503 with Retry-After when they cannot."""
    checks = FINDINGS.latest()
    state = judge(checks=checks)
    answer = {"status": state, "checks": {check.name: check.ok for check in checks}}
    if state == "unavailable":
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return JsonResponse(answer, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)
    return JsonResponse(answer)


def judge(*, checks: tuple[Check, ...]) -> str:
    """Return ready, degraded or unavailable."""
    wrong = {check.name for check in checks if not check.ok}
    if wrong & ESSENTIAL:
        return "unavailable"
    return "degraded" if wrong else "ready"


urlpatterns = [path("live", live), path("ready", ready)]
