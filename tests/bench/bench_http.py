"""Search and pages over HTTP against the bare SQL statement, on one uvicorn process.

Run: `.venv/bin/python -m tests.bench.bench_http 10000`. One client, one connection, kept alive.
"""

import json
import os
import subprocess
import sys
import time
from functools import partial
from importlib import import_module

import httpx
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, TokenScope
from accounts.models import User
from tests.bench import bench_search as base

PORT = 8931
PAGES = ("/o/bench/", "/o/bench/p/bench/", "/o/bench/p/bench/memories")
URL = f"http://127.0.0.1:{PORT}"


def main(*, count: int) -> None:
    """Fill an organization, serve it, and measure."""
    base.call_command("migrate", verbosity=0)
    organization = base.people.make_organization(slug="bench")
    user = base.people.make_person(
        organization=organization, email="b@bench.test", role=base.Role.OWNER
    )
    caller = base.people.as_caller(organization=organization, user=user, role=base.Role.OWNER)
    texts = base.docstrings(count=count)
    with base.people.entered(organization=organization):
        base.fill(caller, texts)
        token = _token(caller)
        server = _serve()
        try:
            _measure(caller, texts, token)
        finally:
            server.terminate()
            server.wait(timeout=20)


def _token(caller: Caller) -> str:
    scopes = frozenset({TokenScope.READ, TokenScope.WRITE})
    new = NewToken(name="bench", scopes=scopes)
    return create_token(caller=caller, new=new, now=timezone.now()).text


def _serve() -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DATABASE_URL": os.environ["DATABASE_URL"]}
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(PORT)]
    server = subprocess.Popen([*command, "--log-level", "warning"], env=environment)
    for _ in range(200):
        try:
            if httpx.get(f"{URL}/health/live", timeout=1).status_code == 200:
                return server
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def _measure(caller: Caller, texts: tuple[str, ...], token: str) -> None:
    queries = base.queries(texts)
    bare = [base.bare_time(caller, text) for text in queries]
    with httpx.Client(base_url=URL, headers={"Authorization": f"Bearer {token}"}) as client:
        whole = [base.timed(partial(_search, client, text)) for text in queries]
        adds = [base.timed(partial(_add, client, number)) for number in range(50)]
    base.show("bare SQL", bare, bare)
    base.show("HTTP search", whole, bare)
    base.show("HTTP add", adds, bare)
    with httpx.Client(base_url=URL, cookies=_session(caller)) as browser:
        for path in PAGES:
            times = [base.timed(partial(_page, browser, path)) for _ in range(30)]
            base.show(path, times, bare)


def _session(caller: Caller) -> dict[str, str]:
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    user = User.objects.get(pk=caller.user_id)
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return {settings.SESSION_COOKIE_NAME: str(session.session_key)}


def _page(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code


def _search(client: httpx.Client, text: str) -> None:
    answer = client.post("/api/v1/search", json={"query": text, "threshold": 0})
    assert answer.status_code == 200, answer.text
    assert json.loads(answer.text)["results"]


def _add(client: httpx.Client, number: int) -> None:
    content = f"Benchmark note {number}: the queue of worker {number * 7919} drains in order."
    body = {"project": "bench", "type": "fact", "content": content}
    answer = client.post("/api/v1/memories", json=body)
    assert answer.status_code in {200, 201}, answer.text


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
