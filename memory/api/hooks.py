"""Hooks of agents' programs over REST: their payload in, their answer out."""

import time
from dataclasses import replace
from typing import Final

from django.conf import settings

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.headers import HOOK
from accounts.api.schemas import FREE
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from accounts.errors import NotFound
from accounts.messages import message
from memory.injection.actions import deliver
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import payloads, responses
from memory.injection.harnesses.adapters import ADAPTERS, Adapter, Harness
from memory.search import deadline

OFF: Final = "X-Cairn-Off"
EVENT: Final = "X-Cairn-Event"
PROJECT: Final = "X-Cairn-Project"
REPOSITORY: Final = "X-Cairn-Repository"
ROOT: Final = "X-Cairn-Root"
BRANCH: Final = "X-Cairn-Branch"
COMMIT: Final = "X-Cairn-Commit"
WAITS: Final = "X-Cairn-Waits"
SILENCE: Final = "X-Cairn-Silence"
LATE: Final = "late"
NOT_OFF: Final = frozenset({"", "0", "false", "no"})
PAYLOAD: Final = Record(name="HookPayload", fields=(), open=True)
HEADERS: Final = (
    Field(name=OFF, shape=Text(largest=20), says="Anything but 0: nothing is kept or given."),
    Field(name=EVENT, shape=Text(largest=60), says="The event, where the payload names none."),
    Field(
        name=HOOK,
        shape=Text(largest=60),
        says="The version of the script that calls; the page of connections names old ones.",
    ),
    Field(name=PROJECT, shape=Text(largest=64), says="The project's slug or id."),
    Field(
        name=REPOSITORY,
        shape=Text(largest=1_000),
        says="The address of the repository; its last part may name the project. It is not kept.",
    ),
    Field(name=ROOT, shape=Text(largest=1_000), says="The folder of the repository, in UTF-8."),
    Field(name=BRANCH, shape=Text(largest=1_000), says="The branch, in UTF-8."),
    Field(name=COMMIT, shape=Text(largest=100), says="The commit, in hexadecimal digits."),
    Field(
        name=WAITS,
        shape=Text(largest=20),
        says="0 where the program does not wait for the answer: it is kept, and nothing is given.",
    ),
)
SCHEMAS: Final = {"HookAnswer": FREE}


def take(ask: Ask) -> Answer:
    """Keep what an agent's program tells, and answer in its own shape."""
    adapter = _adapter(ask.path["harness"])
    event = payloads.read_payload(adapter=adapter, payload=ask.body, event=ask.headers[EVENT])
    given_until = deadline.within(seconds=settings.HOOK_SECONDS, clock=time.monotonic)
    delivery = deliver.SILENCE
    if ask.headers[OFF].strip().lower() in NOT_OFF:
        whereabouts = Whereabouts(
            project=ask.headers[PROJECT].strip(),
            repository=ask.headers[REPOSITORY],
            root=_decoded(ask.headers[ROOT]),
            branch=_decoded(ask.headers[BRANCH]),
            commit=ask.headers[COMMIT].strip(),
        )
        result = follow_agent(
            caller=ask.caller,
            event=replace(event, waits=ask.headers[WAITS].strip() != "0"),
            whereabouts=whereabouts,
            now=ask.now,
            deadline=given_until,
        )
        delivery = result.delivery
    return Answer(
        body=responses.answer(adapter=adapter, event=event.event, text=delivery.text),
        headers={SILENCE: LATE} if delivery.is_late else {},
    )


def _decoded(value: str) -> str:
    """Return a header that git wrote in UTF-8; WSGI and ASGI hand each byte on as a letter."""
    return value.strip().encode("latin-1", "replace").decode("utf-8", "replace")


def _adapter(name: str) -> Adapter:
    if name in set(Harness):
        return ADAPTERS[Harness(name)]
    raise NotFound(
        detail=message("There is no program {name!r}.", name=name[:60]),
        hint=message("Use one of: {names}.", names=tuple(Harness)),
    )


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="hooks/{harness}",
        name="hook",
        tag="sessions",
        summary="Tell what an agent does, and be given what helps",
        says=(
            "For the hooks of agents' programs: the body is the program's own payload, and so is "
            "the answer: claude-code, cursor, codex, copilot, cline, or generic. The first prompt "
            "is answered with a brief, the touch of a file with its warnings, most often nothing. "
            "An event that nobody knows is answered emptily. What is not ready within 2.5 seconds "
            "is not given, nor written down as given: X-Cairn-Silence says so."
        ),
        scope=TokenScope.WRITE,
        run=take,
        headers=HEADERS,
        body=PAYLOAD,
        bulk=True,
        lenient=True,
        example={"session": "run-41", "event": "prompt", "prompt": "Clear the price cache."},
        replies=(
            Reply(
                status=200,
                says="What the program gives to its model; empty: silence.",
                schema="HookAnswer",
                example={"context": "Recorded memories of your team. …"},
            ),
        ),
    ),
)
