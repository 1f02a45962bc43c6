"""A client outside of the product that writes, and keeps what was acknowledged (spec 10.5).

Every acknowledged id goes to a file that is synced before the next request, so the file is the
truth about what the product has promised. A request that fails is sent again until it is answered:
what was stored already is confirmed then.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import httpx

PROJECT = "valves"
THREADS = 4
PAUSE_S = 0.1
ANSWER_S = 30
BULK = 20  # memories of every second request
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(slots=True, kw_only=True)
class Load:
    """What is to be written, and what has been acknowledged."""

    client: httpx.Client
    journal: Path
    wanted: int
    sent: int = 0
    done: int = 0
    faults: list[str] = field(default_factory=list)
    stopped: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def take(self) -> range:
        """Return the numbers of the memories of the next request."""
        with self.lock:
            size = BULK if self.sent % 3 else 1
            first, self.sent = self.sent, min(self.wanted, self.sent + size)
            return range(first, self.sent)

    def keep(self, acknowledged: list[dict[str, str]]) -> None:
        """Keep what was acknowledged, and only then count it."""
        lines = "".join(json.dumps(item) + "\n" for item in acknowledged)
        with self.lock:
            with self.journal.open("a") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            self.done += len(acknowledged)

    def wait(self, *, number: int, seconds: float) -> None:
        """Wait until so many are acknowledged. Raises TimeoutError; a fault ends the wait."""
        deadline = time.monotonic() + seconds
        while self.done < number and not self.faults:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.done} were acknowledged within {seconds} s.")
            time.sleep(PAUSE_S)

    def run(self) -> None:
        """Write until everything is acknowledged."""
        while (numbers := self.take()) and not self.stopped.is_set():
            try:
                self.keep(self._write([content_of(number) for number in numbers]))
            except AssertionError as fault:
                self.faults.append(str(fault))
                return

    def _write(self, contents: list[str]) -> list[dict[str, str]]:
        items = [{"content": content} for content in contents]
        if len(items) == 1:
            answer = self._send("memories", {**items[0], "project": PROJECT})
            return [{"id": answer["memory"]["id"], "content": contents[0]}]
        outcomes = self._send("memories/bulk", {"project": PROJECT, "memories": items})["outcomes"]
        refused = [outcome for outcome in outcomes if outcome["memory"] is None]
        assert not refused, str(refused[0])
        return [
            {"id": outcome["memory"]["id"], "content": content}
            for outcome, content in zip(outcomes, contents, strict=True)
        ]

    def _send(self, path: str, body: dict[str, Any]) -> Any:
        while not self.stopped.is_set():
            try:
                answer = self.client.post(path, json=body)
            except httpx.TransportError:
                self.stopped.wait(PAUSE_S)
                continue
            if answer.is_success:
                return answer.json()
            assert answer.status_code in {429, 503}, f"{answer.status_code}: {answer.text}"
            self.stopped.wait(PAUSE_S)
        raise AssertionError("stopped before it was acknowledged")


@contextmanager
def running(*, url: str, token: str, journal: Path, wanted: int) -> Iterator[Load]:
    """Write from several threads until `wanted` memories are acknowledged or the block ends."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=ANSWER_S) as client:
        load = Load(client=client, journal=journal, wanted=wanted)
        threads = [Thread(target=load.run, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield load
        finally:
            load.stopped.set()
            for thread in threads:
                thread.join()


def content_of(number: int) -> str:
    """Return a statement of which each word of the number is one of its own."""
    spelled = "".join(NUMBERS[int(digit)] for digit in str(number))
    return f"Lesson {spelled}: the valve {spelled} opens to the left."
