"""Replay a recorded agent session through the REST interface, so that pages move.

The session is data: `session.jsonl`, one call a line, with the thought that led to it. A call may
name what it answers, and later calls use that name. Writes carry a fixed Idempotency-Key, so that
playing again stores nothing twice; confirmations and searches happen each time.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx

SESSION: Final = Path(__file__).with_name("session.jsonl")
AGENT: Final = "demo-agent"
TIMEOUT_SECONDS: Final = 30.0
REPEATED: Final = ("/confirm", "/search")  # calls that may happen twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of the session: why it is made, the call, and the name of what it answers."""

    say: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict)
    keep: str = ""


class Unplayable(Exception):
    """The session cannot go on; the message says why and what to do."""


def read(*, path: Path = SESSION) -> tuple[Step, ...]:
    """Read a recorded session."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(Step(**json.loads(line)) for line in lines if line.strip())


def play(
    *, client: httpx.Client, project: str, steps: tuple[Step, ...], pause: Callable[[], None]
) -> Iterator[tuple[Step, str]]:
    """Make the calls in order, with a pause before each; yield each with its result in words.

    Raises Unplayable when the server does not answer or does not accept the token.
    """
    kept: dict[str, str] = {}
    for number, step in enumerate(steps, 1):
        pause()
        named = (part[1:-1] for part in step.path.split("/") if part.startswith("{"))
        if any(name not in kept for name in named):
            yield step, "skipped: what it builds on was not found"
            continue
        answer = _call(client, step, project, kept, number)
        if step.keep and (memory_id := _memory_id(answer.json())):
            kept[step.keep] = memory_id
        yield step, _in_words(answer)


def client(*, url: str, token: str) -> httpx.Client:
    """Return the client that speaks as the demo's agent."""
    headers = {"Authorization": f"Bearer {token}", "X-Cairn-Agent": AGENT}
    return httpx.Client(
        base_url=f"{url}/api/v1", headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False
    )


def _call(
    client: httpx.Client, step: Step, project: str, kept: Mapping[str, str], number: int
) -> httpx.Response:
    path = step.path.format_map(kept)
    body = dict(step.body)
    if "project" in body:
        body["project"] = project
    text = json.dumps((number, step.path, dict(step.body)), sort_keys=True)
    key = f"demo-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    headers = {} if path.endswith(REPEATED) else {"Idempotency-Key": key}
    try:
        answer = client.post(path, json=body, headers=headers)
    except httpx.TransportError as error:
        raise Unplayable(
            f"Cairn does not answer at {client.base_url} ({error}); start it with: make run"
        ) from error
    if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise Unplayable(f"The token is not accepted: {answer.json().get('detail', '')}")
    return answer


def _memory_id(body: Mapping[str, Any]) -> str:
    if body.get("results"):
        return str(body["results"][0]["memory"]["id"])
    return str(body["memory"]["id"]) if body.get("memory") else ""


def _in_words(answer: httpx.Response) -> str:
    body = answer.json()
    if answer.is_error:
        return f"{answer.status_code} {body.get('gate') or body.get('code')}: {body.get('detail')}"
    if "results" in body:
        return f"{len(body['results'])} found" if body["results"] else "nothing relevant"
    is_replay = "Idempotency-Replayed" in answer.headers
    return "done before" if is_replay else str(body.get("outcome", "done"))
