"""Hooks of agents' programs over REST: their payload in, their answer out."""

import time
from dataclasses import replace
from typing import Any, Final

from django.conf import settings
from pydantic import ConfigDict, Field, RootModel

from accounts.api.endpoints import Answer, Call, post
from accounts.api.requests import HOOK
from accounts.api.schemas import Body, Headers
from accounts.errors import NotFound
from accounts.messages import message
from memory.injection import harnesses
from memory.injection.actions import deliver
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.observer.actions import reflection
from memory.search.request import Deadline

SILENCE: Final = "X-Cairn-Silence"
LATE: Final = "late"
STOP_SECONDS: Final = 0.8  # a program that stops waits for a second
NOT_OFF: Final = frozenset({"", "0", "false", "no"})


class HookPayload(Body):
    """What an agent's program sends of its own making; nothing of it is checked here."""

    model_config = ConfigDict(extra="allow")


def _header(name: str, most: int, description: str) -> Any:
    return Field(alias=name, default="", max_length=most, description=description)


class HookHeaders(Headers):
    """Where the program works, and what it wants."""

    off: str = _header("X-Cairn-Off", 20, "Anything but 0: nothing is kept or given.")
    event: str = _header("X-Cairn-Event", 60, "The event, where the payload names none.")
    hook: str = _header(
        HOOK, 60, "The version of the script that calls; the page of connections names old ones."
    )
    project: str = _header("X-Cairn-Project", 64, "The project's slug or id.")
    repository: str = _header(
        "X-Cairn-Repository",
        1_000,
        "The address of the repository; its last part may name the project. It is not kept.",
    )
    root: str = _header("X-Cairn-Root", 1_000, "The folder of the repository, in UTF-8.")
    branch: str = _header("X-Cairn-Branch", 1_000, "The branch, in UTF-8.")
    commit: str = _header("X-Cairn-Commit", 100, "The commit, in hexadecimal digits.")
    waits: str = _header(
        "X-Cairn-Waits",
        20,
        "0 where the program does not wait for the answer: it is kept, and nothing is given.",
    )


class HookAnswer(RootModel[dict[str, Any]]):
    """What the program gives to its model; empty: silence."""


@post(
    "hooks/{harness}", tag="sessions", answer=HookAnswer, bulk=True, lenient=True, idempotent=False
)
def hook(call: Call, body: HookPayload, headers: HookHeaders) -> Answer:
    """Tell what an agent does, and be given what helps.

    For the hooks of agents' programs: the body is the program's own payload, and so is the answer:
    claude-code, cursor, codex, copilot, cline, or generic. The first prompt is answered with a
    brief, the touch of a file with its warnings, most often nothing. An agent that stops may be
    asked, once a session, whether what it met is a lesson. An event that nobody knows is answered
    emptily. What is not ready within 2.5 seconds is not given, nor written down as given:
    X-Cairn-Silence says so.
    """
    payload = body.model_extra or {}
    name = call.path["harness"]
    if name not in set(harnesses.Harness):
        raise NotFound(
            detail=message("There is no program {name!r}.", name=name[:60]),
            hint=message("Use one of: {names}.", names=tuple(harnesses.Harness)),
        )
    adapter = harnesses.ADAPTERS[harnesses.Harness(name)]
    event = replace(
        harnesses.read_payload(adapter=adapter, payload=payload, event=headers.event),
        waits=headers.waits.strip() != "0",
    )
    began = time.monotonic()
    delivery, question = deliver.SILENCE, ""
    if headers.off.strip().lower() in NOT_OFF:
        whereabouts = Whereabouts(
            project=headers.project.strip(),
            repository=headers.repository,
            root=_decoded(headers.root),
            branch=_decoded(headers.branch),
            commit=headers.commit.strip(),
        )
        delivery = follow_agent(
            caller=call.caller,
            event=event,
            whereabouts=whereabouts,
            now=call.now,
            deadline=Deadline(ends_at=began + settings.HOOK_SECONDS, clock=time.monotonic),
        )
        at_stop = Deadline(ends_at=began + STOP_SECONDS, clock=time.monotonic)
        question = reflection.ask(caller=call.caller, event=event, now=call.now, deadline=at_stop)
    if question:
        return Answer(harnesses.question(adapter=adapter, text=question))
    return Answer(
        harnesses.answer(adapter=adapter, event=event.event, text=delivery.text),
        headers={SILENCE: LATE} if delivery.is_late else {},
    )


def _decoded(value: str) -> str:
    """Return a header that git wrote in UTF-8; WSGI and ASGI hand each byte on as a letter."""
    return value.strip().encode("latin-1", "replace").decode("utf-8", "replace")
