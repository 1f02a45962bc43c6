"""Fifty writers count in the same memories with If-Match: no count is lost."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import pytest

from tests.support.goals import Scale
from tests.support.live import Place
from tests.support.statements import numbered

WRITERS: Final = 50
PATIENCE: Final = 60.0  # seconds for one answer
SHARED: Final = 10  # memories that all of them write

pytestmark = pytest.mark.django_db


@dataclass(slots=True, kw_only=True)
class Writer:
    """Counts up in memories, each time from what it has just read."""

    http: httpx.Client
    statuses: list[int] = field(default_factory=list)

    def count_up(self, path: str) -> None:
        """Add one to a memory's count, reading again whenever somebody was faster."""
        while True:
            read = self.http.get(path)
            counted = {"count": read.json()["attributes"]["count"] + 1}
            tag = {"If-Match": read.headers["ETag"]}
            answer = self.http.patch(path, json={"attributes": counted}, headers=tag)
            self.statuses.append(answer.status_code)
            if answer.status_code != 412:
                return

    def forget_the_version(self, path: str) -> None:
        """Try to edit without saying which version."""
        answer = self.http.patch(path, json={"attributes": {"count": 0}})
        self.statuses.append(answer.status_code)


def _client(address: str, place: Place) -> httpx.Client:
    headers = {"Authorization": f"Bearer {place.token}"}
    limits = httpx.Limits(max_connections=WRITERS)
    url = f"{address}/api/v1"
    return httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, limits=limits)


def _remembered(http: httpx.Client, number: int) -> str:
    sent: dict[str, Any] = {"content": numbered(number=number), "project": "shop", "type": "fact"}
    answer = http.post("/memories", json={**sent, "attributes": {"count": 0}})
    return f"/memories/{answer.json()['memory']['id']}"


@pytest.mark.goal(name="G15")
def test_no_count_of_fifty_writers_is_lost(
    address: str, place: Place, scale: Scale, figure: Callable[[str], None]
) -> None:
    each = scale.of(short=4, long=100)
    with _client(address, place) as http:
        paths = [_remembered(http, number) for number in range(SHARED)]

        statuses = _write(http, paths, each)

        counts = [http.get(path).json() for path in paths]
        histories = [http.get(f"{path}/history").json()["items"] for path in paths]
    stored = sum(one["attributes"]["count"] for one in counts)
    told = {status: statuses.count(status) for status in sorted(set(statuses))}
    figure(f"{WRITERS * each - stored} of {WRITERS * each:,} updates lost, {told}")
    assert stored == WRITERS * each == told.pop(200)
    assert set(told) <= {412, 428}
    assert told[428] == WRITERS
    for one, versions in zip(counts, histories, strict=True):
        numbers = [version["number"] for version in versions]
        assert numbers == [*range(one["attributes"]["count"] + 1, 0, -1)]


def _write(http: httpx.Client, paths: list[str], each: int) -> list[int]:
    """Let all writers count up at once; return every status they were answered."""

    def write(number: int) -> list[int]:
        writer = Writer(http=http)
        writer.forget_the_version(paths[number % SHARED])
        for turn in range(each):
            writer.count_up(paths[(number + turn) % SHARED])
        return writer.statuses

    with ThreadPoolExecutor(WRITERS) as pool:
        return [status for statuses in pool.map(write, range(WRITERS)) for status in statuses]
