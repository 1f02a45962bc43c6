"""The product served for a benchmark: one uvicorn process, tokens, a session of a browser."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

import httpx
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, Role, TokenScope
from accounts.models import Organization, User
from tests.support import people

PORT = 8931
URL = f"http://127.0.0.1:{PORT}"
PATIENCE_S = 150


def place(*, slug: str) -> tuple[Organization, Caller]:
    """Make an organization and its owner."""
    organization = people.make_organization(slug=slug)
    email = f"{slug}@bench.test"
    user = people.make_person(organization=organization, email=email, role=Role.OWNER)
    return organization, people.as_caller(organization=organization, user=user, role=Role.OWNER)


def kept_place(*, slug: str) -> tuple[Organization, Caller] | None:
    """Return an organization that an earlier run left, and its owner."""
    organization = Organization.objects.filter(slug=slug).first()
    if organization is None:
        return None
    user = User.objects.get(email=f"{slug}@bench.test")
    return organization, people.as_caller(organization=organization, user=user, role=Role.OWNER)


@contextmanager
def served() -> Iterator[subprocess.Popen[bytes]]:
    """Serve the product from one process until the block ends."""
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(PORT)]
    server = subprocess.Popen([*command, "--log-level", "warning"])
    try:
        _await_answer(server)
        yield server
    finally:
        server.terminate()
        server.wait(timeout=20)


def token(*, caller: Caller) -> str:
    """Return a new token of the caller that reads and writes."""
    scopes = frozenset({TokenScope.READ, TokenScope.WRITE})
    new = NewToken(name="bench", scopes=scopes)
    return create_token(caller=caller, new=new, now=timezone.now()).text


def client(*, token: str) -> httpx.Client:
    """Return a client that keeps one connection alive."""
    return httpx.Client(base_url=URL, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def browser(*, caller: Caller) -> httpx.Client:
    """Return a client with the session of a signed-in person."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    user = User.objects.get(pk=caller.user_id)
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    cookies = {settings.SESSION_COOKIE_NAME: str(session.session_key)}
    return httpx.Client(base_url=URL, cookies=cookies, timeout=60)


def _await_answer(server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"{URL}/health/live", timeout=1).status_code == 200:
                return
        except httpx.TransportError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.1)
    raise SystemExit("the server did not start")
