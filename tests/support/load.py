"""A client outside of the product that writes, and keeps what was acknowledged.

Every acknowledged id goes to a file that is synced before the next request, so the file is the
truth about what the product has promised. A request that fails is sent again until it is answered:
what was stored already is confirmed then. Beyond what was waited for it writes slowly and does not
stop, so whatever is done to the product is done under load.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Any

import httpx

PROJECT = "valves"
THREADS = 4
PAUSE_S = 0.1
SLOW_S = 0.2  # between the requests of one thread that is ahead of what is waited for
ANSWER_S = 30
PATIENCE_S = 180  # until a request that is sent again and again has to be acknowledged
BULK = 20  # memories of every second request
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(slots=True, kw_only=True)
class Load:
    """What has been sent, what has been acknowledged, and how many may be written at once."""

    client: httpx.Client
    journal: Path
    allowed: int = 0
    sent: int = 0
    done: int = 0
    faults: list[str] = field(default_factory=list)
    stopped: Event = field(default_factory=Event)
    lock: Condition = field(default_factory=Condition)  # told when something was acknowledged

    def take(self) -> range:
        """Return the numbers of the memories of the next request: one, when it is ahead."""
        with self.lock:
            is_ahead = self.sent >= self.allowed
            size = 1 if is_ahead or not self.sent % 3 else BULK
            numbers = range(self.sent, self.sent + size)
            self.sent += size
        if is_ahead:
            self.stopped.wait(SLOW_S)
        return numbers

    def keep(self, acknowledged: list[dict[str, str]]) -> None:
        """Keep what was acknowledged, and only then count it."""
        lines = "".join(json.dumps(item) + "\n" for item in acknowledged)
        with self.lock:
            with self.journal.open("a") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            self.done += len(acknowledged)
            self.lock.notify_all()

    def wait(self, *, number: int, seconds: float) -> None:
        """Write until so many are acknowledged. Raises TimeoutError; a fault ends the wait."""
        with self.lock:
            self.allowed = number
            if not self.lock.wait_for(lambda: self.done >= number or self.faults, timeout=seconds):
                raise TimeoutError(f"{self.done} were acknowledged within {seconds} s.")

    def run(self) -> None:
        """Write until it is stopped, or refused."""
        while not self.stopped.is_set():
            try:
                self.keep(self._write([content_of(number) for number in self.take()]))
            except AssertionError as fault:
                with self.lock:
                    self.faults.append(str(fault))
                    self.lock.notify_all()
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
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                answer = self.client.post(path, json=body)
            except httpx.TransportError:
                self._pause()
                continue
            if answer.is_success:
                return answer.json()
            assert answer.status_code in {429, 503}, f"{answer.status_code}: {answer.text}"
            self._pause()
        raise AssertionError(f"not acknowledged within {PATIENCE_S} s")

    def _pause(self) -> None:
        """Wait until a request of another thread got through, or for a moment."""
        with self.lock:
            self.lock.wait(timeout=PAUSE_S)


@contextmanager
def running(*, url: str, token: str, journal: Path) -> Iterator[Load]:
    """Write from several threads until the block ends and their last requests are answered."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=ANSWER_S) as client:
        load = Load(client=client, journal=journal)
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
