"""The calls of a Cairn server as functions of one client.

with Client(connection=Connection(url="https://cairn.example.org", token="crn_pat_…")) as cairn:
    cairn.add(content="Deploys need the VPN, because the registry is internal.", project="shop")
    print(cairn.search(query="how do we deploy", project="shop").hits)

Only what may be sent twice is repeated: a read, and a write that carries an Idempotency-Key, after
a broken line, a 429 or a server that is away; an upload only while nothing of it can have arrived.
The wait is the server's Retry-After, or doubles. Redirects are not followed, so that a token goes
to no other address.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Self
from uuid import uuid4

import httpx

from .configuration import SCOPES, Connection
from .errors import STILL_RUNNING, Problem, Unreachable

API: Final = "/api/v1"
PAGE: Final = 100  # entries asked for at a time
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 60.0  # a write may wait up to 30 s for its job
STREAM_SECONDS: Final = 30 * 60.0  # a whole file is written before its first byte comes
ATTEMPTS: Final = 5
CONNECT_ATTEMPTS: Final = 3  # at a server that accepts no connection
FIRST_WAIT_SECONDS: Final = 0.5
LONGEST_WAIT_SECONDS: Final = 60.0
AGENT: Final = "cairn-cli"
BUSY: Final = frozenset({429, 503})  # refused before anything was done
GATEWAY: Final = frozenset({502, 504})  # a server between gave up; it may have been done
UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

Json = Mapping[str, Any]
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory, as far as a line about it needs; what a newer server adds is in `raw`.

    A text that an answer lacks is empty, so that a client of yesterday reads a server of tomorrow.
    """

    id: str
    project: str
    type: str
    content: str
    created_at: str
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, raw: Json) -> Self:
        """Read what the server says of a memory."""
        names = ("id", "project", "type", "content", "created_at")
        return cls(**{name: str(raw.get(name) or "") for name in names}, raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A memory that a search found, and the probability that it is relevant."""

    memory: Memory
    relevance: float
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """What a search came to; `degraded` are the parts of it that failed."""

    hits: tuple[SearchHit, ...]
    degraded: tuple[str, ...]
    raw: Json = field(repr=False)


class Client:
    """One caller of one server; thread-safe as httpx is. Refusals are raised as Problem.

    Where a call names no project, it is for that of the connection, if it has one.
    """

    def __init__(
        self, *, connection: Connection, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.url, self.project = connection.url, connection.project
        self._pause = pause
        token = {"Authorization": f"Bearer {connection.token}"} if connection.token else {}
        self._http = httpx.Client(
            base_url=connection.url,
            headers={**token, "User-Agent": AGENT, "X-Cairn-Agent": AGENT},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the lines to the server."""
        self._http.close()

    def greet(self) -> tuple[str, float]:
        """Return the server's time, as in its header, and the seconds of an answer."""
        answer = self._send("GET", "/health/live")
        return answer.headers.get("Date", ""), answer.elapsed.total_seconds()

    def speak_mcp(self, *, message: Row) -> Json:
        """Return what the server answers to a message of MCP; nothing where it has no id."""
        answer = self._send("POST", "/mcp", body=message)
        return dict(answer.json()) if answer.content else {}

    def me(self) -> Json:
        """Say who the server takes the caller for."""
        return self._get("me")

    def ask_code(self, *, name: str, scopes: Sequence[str] = ()) -> Json:
        """Ask for the codes with which a person lets this program sign in; needs no token."""
        return self._post("device/code", client=name, scopes=list(scopes or SCOPES))

    def fetch_token(self, *, device_code: str) -> Json:
        """Fetch the token of an approved sign-in. Raises Problem until somebody has approved."""
        return self._post("device/token", device_code=device_code)

    def projects(self) -> tuple[Json, ...]:
        """Return the projects that the caller sees."""
        return tuple(self._get("projects")["items"])

    def set_lessons(self, *, project: str, lessons: str) -> Json:
        """Set for whom is what sessions of a project teach: `personal` or `project`."""
        path = f"{API}/projects/{project}"
        version = self._get(f"projects/{project}")["version"]
        body = {"session_lessons": lessons}
        return dict(self._send("PATCH", path, body=body, version=version).json())

    def pause(self, *, project: str, paused: bool, token_id: str = "", mine: bool = False) -> Json:
        """Pause or resume agents of a project: all, those of one token, or one's own."""
        path = f"projects/{project}/pause"
        return self._post(path, paused=paused, token=token_id or None, mine=mine or None)

    def search(self, *, query: str, project: str = "", **narrowing: object) -> SearchResults:
        """Return what is relevant to a question; `narrowing` are fields of `POST /search`."""
        raw = self._post("search", query=query, project=self._of(project), **narrowing)
        hits = tuple(
            SearchHit(memory=Memory.read(one["memory"]), relevance=one["relevance"], raw=one)
            for one in raw["results"]
        )
        return SearchResults(hits=hits, degraded=tuple(raw.get("degraded") or ()), raw=raw)

    def waiting(self, *, project: str = "", page: int = PAGE) -> Iterator[Json]:
        """Yield what waits for review, the longest waiting first: its `memory` and its `group`."""
        return self._pages("reviews", project=self._of(project), limit=page)

    def keep(self, *, memory_id: str, share: bool) -> Json:
        """Keep a memory that waits for review; return it with the `review_id` that undoes it."""
        return self._post(f"memories/{memory_id}/keep", share=share)

    def check(self, *, kind: str, text: str, project: str) -> Json:
        """Check a `plan` or a `diff` against a project's memories; return verdict and findings."""
        return self._post(f"checks/{kind}", project=project, **{kind: text})

    def add(self, *, content: str, project: str = "", **fields: object) -> Json:
        """Hand in one memory; `fields` are those of `POST /memories`."""
        return self._post("memories", content=content, project=self._of(project), **fields)

    def add_all(self, *, memories: Sequence[Row], project: str = "") -> tuple[Json, ...]:
        """Hand in up to 1,000 memories; each has an outcome of its own, in order."""
        raw = self._post("memories/bulk", project=self._of(project), memories=list(memories))
        return tuple(raw["outcomes"])

    def memories(self, *, project: str = "", query: str = "", page: int = PAGE) -> Iterator[Memory]:
        """Yield memories, the newest first, page by page as they are read."""
        rows = self._pages("memories", project=self._of(project), q=query or None, limit=page)
        return (Memory.read(row) for row in rows)

    @contextmanager
    def export(self, *, form: str, project: str = "", query: str = "") -> Iterator[Iterator[bytes]]:
        """Yield the parts of an export as they come."""
        body = _without_none({"format": form, "project": self._of(project), "query": query})
        seconds = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS, read=STREAM_SECONDS)
        try:
            with self._http.stream("POST", f"{API}/exports", json=body, timeout=seconds) as answer:
                if not answer.is_success:
                    answer.read()
                    raise Problem(status=answer.status_code, document=_document(answer))
                yield answer.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def begin_import(
        self, *, name: str, data: bytes, project: str = "", preview: bool = False
    ) -> Json:
        """Hand in a file, which a job takes in; a preview only says what it would do."""
        path = f"{API}/imports/preview" if preview else f"{API}/imports"
        query = {"name": name, "project": self._of(project)}
        return dict(self._send("POST", path, query=query, data=data).json())

    def batch(self, *, batch_id: str) -> Json:
        """Return the state of an import."""
        return self._get(f"imports/{batch_id}")

    def announce_code(self, *, project: str, files: Sequence[Row]) -> Json:
        """Say which files a project has: `path`, `hash`, `size` each; return what is missing."""
        return self._post(f"projects/{project}/index", files=list(files))

    def send_code(self, *, project: str, run: str, files: Sequence[Row]) -> Json:
        """Send files that are missing of the manifest that was answered with that run."""
        return self._post(f"projects/{project}/index/files", run=run, files=list(files))

    def code_index(self, *, project: str) -> Json:
        """Say how far the index of a project's code is."""
        return self._get(f"projects/{project}/index")

    def code_files(self, *, project: str) -> Iterator[str]:
        """Yield the paths of the files that the index of a project knows, page by page."""
        rows = self._pages(f"projects/{project}/files", limit=PAGE)
        return (str(row["path"]) for row in rows)

    def open_session(self, *, external_id: str, project: str = "", **about: object) -> Json:
        """Open a session, or find the one of that external id."""
        within = self._of(project)
        return self._post("sessions", external_id=external_id, project=within, **about)

    def is_session(self, *, external_id: str) -> bool:
        """Say whether the caller sees a session of this external id."""
        return bool(self._get("sessions", external_id=external_id, limit=1)["items"])

    def append(self, *, session_id: str, kind: str, rows: Sequence[Row]) -> Json:
        """Append `turns` or `events`; one whose sequence is there already changes nothing."""
        return self._post(f"sessions/{session_id}/{kind}", **{kind: list(rows)})

    def end_session(self, *, session_id: str) -> None:
        """End a session, so that what is worth keeping is taken from it."""
        self._post(f"sessions/{session_id}/end")

    def _of(self, project: str) -> str | None:
        """Return the project of a call: the named one, or the usual one, if there is any."""
        return project or self.project or None

    def _get(self, path: str, /, **query: object) -> dict[str, Any]:
        return dict(self._send("GET", f"{API}/{path}", query=query).json())

    def _post(self, path: str, /, **body: object) -> dict[str, Any]:
        """Send the fields that are given; None stands for one that is not."""
        return dict(self._send("POST", f"{API}/{path}", body=_without_none(body)).json())

    def _pages(self, path: str, /, **query: object) -> Iterator[dict[str, Any]]:
        cursor: object = None
        while True:
            page = self._get(path, **query, cursor=cursor)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Row | None = None,
        body: object = None,
        data: bytes | None = None,
        version: int | None = None,
    ) -> httpx.Response:
        """Return the answer; `data` may not be sent twice. Raises Problem, or Unreachable.

        `version` is the one that is to be changed.
        """
        request = self._request(method, path, query, body, data)
        request.headers.update(_only_at(version))
        for attempt in range(1, ATTEMPTS + 1):
            seconds = min(FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), LONGEST_WAIT_SECONDS)
            try:
                answer = self._http.send(request)
            except httpx.TransportError as error:
                most = 1 if data is not None else ATTEMPTS
                if attempt >= (CONNECT_ATTEMPTS if isinstance(error, UNSENT) else most):
                    raise self._unreachable(error) from error
                self._pause(seconds)
                continue
            if answer.is_success:
                return answer
            if attempt == ATTEMPTS or not _is_temporary(answer, is_repeatable=data is None):
                raise Problem(status=answer.status_code, document=_document(answer))
            after = answer.headers.get("Retry-After", "")
            seconds = min(float(after), LONGEST_WAIT_SECONDS) if after.isdecimal() else seconds
            self._pause(seconds)
        raise AssertionError("The last attempt returns or raises.")

    def _request(
        self, method: str, path: str, query: Row | None, body: object, data: bytes | None
    ) -> httpx.Request:
        """Build a request; one that writes JSON may be sent again."""
        headers = {} if method == "GET" else {"Idempotency-Key": str(uuid4())}
        if data is not None:
            headers = {"Content-Type": "application/octet-stream"}
        params: dict[str, Any] = _without_none(query or {})
        return self._http.build_request(
            method, path, params=params, json=body, content=data, headers=headers
        )

    def _unreachable(self, error: httpx.TransportError) -> Unreachable:
        return Unreachable(
            detail=f"{self._http.base_url} does not answer: {error or type(error).__name__}",
            hint="Is the server running, and is this its address?",
        )


def _only_at(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _is_temporary(answer: httpx.Response, *, is_repeatable: bool) -> bool:
    if answer.status_code in BUSY:
        return True
    is_running = answer.status_code == 409 and _document(answer).get("code") == STILL_RUNNING
    return is_repeatable and (answer.status_code in GATEWAY or is_running)


def _document(answer: httpx.Response) -> Json:
    """Return what a refusal says; nothing where another server than ours answered."""
    try:
        document = answer.json()
    except ValueError:
        return {}
    return document if isinstance(document, Mapping) else {}


def _without_none(fields: Row) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
