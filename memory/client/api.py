"""The calls of a Cairn server as functions of one client.

with Client(connection=Connection(url="https://cairn.example.org", token="crn_pat_…")) as cairn:
    cairn.add(content="Deploys need the VPN, because the registry is internal.", project="shop")
    print(cairn.search(query="how do we deploy", project="shop").hits)
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Self

from . import values
from .configuration import Connection
from .transport import Call, Transport
from .values import AddedMemory, Appended, ImportBatch, Me, Memory, SearchResults, Session

API: Final = "/api/v1"
PAGE: Final = 100  # entries asked for at a time
SCOPES: Final = ("read", "write", "index")  # what this program does; a person may lend it less


class Client:
    """One caller of one server; thread-safe as httpx is. Refusals are raised as Problem."""

    def __init__(
        self, *, connection: Connection, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._transport = Transport(connection=connection, pause=pause)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the lines to the server."""
        self._transport.close()

    def greet(self) -> tuple[str, float]:
        """Return the server's time, as in its header, and the seconds of an answer."""
        answer = self._transport.send(call=Call(method="GET", path="/health/live"))
        return answer.headers.get("Date", ""), answer.elapsed.total_seconds()

    def speak_mcp(self, *, message: Mapping[str, object]) -> Mapping[str, Any]:
        """Return what the server answers to a message of MCP; nothing where it has no id."""
        answer = self._transport.send(call=Call(method="POST", path="/mcp", body=message))
        return dict(answer.json()) if answer.content else {}

    def me(self) -> Me:
        """Say who the server takes the caller for."""
        return values.me(raw=self._get("me"))

    def ask_code(self, *, name: str) -> Mapping[str, Any]:
        """Ask for the codes with which a person lets this program sign in; needs no token."""
        return self._post("device/code", {"client": name, "scopes": list(SCOPES)})

    def fetch_token(self, *, device_code: str) -> Mapping[str, Any]:
        """Fetch the token of an approved sign-in. Raises Problem until somebody has approved."""
        return self._post("device/token", {"device_code": device_code})

    def projects(self) -> tuple[Mapping[str, Any], ...]:
        """Return the projects that the caller sees."""
        return tuple(self._get("projects")["items"])

    def pause(
        self, *, project: str, paused: bool, token_id: str = "", mine: bool = False
    ) -> Mapping[str, Any]:
        """Pause or resume agents of a project: all, those of one token, or one's own."""
        body = {"paused": paused, "token": token_id or None, "mine": mine or None}
        return self._post(f"projects/{project}/pause", _given(body))

    def search(self, *, query: str, project: str = "", **narrowing: object) -> SearchResults:
        """Return what is relevant to a question; `narrowing` are fields of `POST /search`."""
        body = {"query": query, "project": project or None, **narrowing}
        return values.found(raw=self._post("search", _given(body)))

    def check(self, *, kind: str, text: str, project: str) -> Mapping[str, Any]:
        """Check a `plan` or a `diff` against a project's memories; return verdict and findings."""
        return self._post(f"checks/{kind}", {"project": project, kind: text})

    def add(self, *, content: str, project: str = "", **fields: object) -> AddedMemory:
        """Hand in one memory; `fields` are those of `POST /memories`."""
        body = {"content": content, "project": project or None, **fields}
        return values.outcome(raw=self._post("memories", _given(body)))

    def add_all(
        self, *, memories: Sequence[Mapping[str, object]], project: str = ""
    ) -> tuple[AddedMemory, ...]:
        """Hand in up to 1,000 memories; each has an outcome of its own, in order."""
        body = {"project": project or None, "memories": list(memories)}
        answer = self._post("memories/bulk", _given(body))
        return tuple(values.outcome(raw=one) for one in answer["outcomes"])

    def memories(self, *, project: str = "", query: str = "", page: int = PAGE) -> Iterator[Memory]:
        """Yield memories, the newest first, page by page as they are read."""
        asked = {"project": project or None, "q": query or None, "limit": page}
        for row in self._pages("memories", asked):
            yield values.memory(raw=row)

    def count(self, *, path: str, project: str = "") -> int:
        """Count the entries of a list of the server."""
        return sum(1 for _ in self._pages(path, {"project": project or None, "limit": PAGE}))

    def export(
        self, *, form: str, project: str = "", query: str = ""
    ) -> AbstractContextManager[Iterator[bytes]]:
        """Return the parts of an export as they come."""
        body = _given({"format": form, "project": project or None, "query": query})
        call = Call(method="POST", path=f"{API}/exports", body=body)
        return self._transport.stream(call=call)

    def begin_import(self, *, name: str, data: bytes, project: str = "") -> ImportBatch:
        """Hand in a file; a job takes it in."""
        return values.batch(raw=self._upload("imports", name, data, project))

    def preview_import(self, *, name: str, data: bytes, project: str = "") -> Mapping[str, Any]:
        """Say what a file would do; nothing is stored."""
        return self._upload("imports/preview", name, data, project)

    def batch(self, *, batch_id: str) -> ImportBatch:
        """Return the state of an import."""
        return values.batch(raw=self._get(f"imports/{batch_id}"))

    def announce_code(
        self, *, project: str, files: Sequence[Mapping[str, object]]
    ) -> Mapping[str, Any]:
        """Say which files a project has: `path`, `hash`, `size` each; return what is missing."""
        return self._post(f"projects/{project}/index", {"files": list(files)})

    def send_code(
        self, *, project: str, run: str, files: Sequence[Mapping[str, object]]
    ) -> Mapping[str, Any]:
        """Send files that are missing of the manifest that was answered with that run."""
        body = {"run": run, "files": list(files)}
        return self._post(f"projects/{project}/index/files", body)

    def code_index(self, *, project: str) -> Mapping[str, Any]:
        """Say how far the index of a project's code is."""
        return self._get(f"projects/{project}/index")

    def code_files(self, *, project: str) -> Iterator[str]:
        """Yield the paths of the files that the index of a project knows, page by page."""
        for row in self._pages(f"projects/{project}/files", {"limit": PAGE}):
            yield str(row["path"])

    def open_session(self, *, external_id: str, project: str = "", **about: object) -> Session:
        """Open a session, or find the one of that external id."""
        body = {"external_id": external_id, "project": project or None, **about}
        return values.session(raw=self._post("sessions", _given(body)))

    def append_turns(self, *, session_id: str, turns: Sequence[Mapping[str, object]]) -> Appended:
        """Append turns; one whose sequence is there already changes nothing."""
        answer = self._post(f"sessions/{session_id}/turns", {"turns": list(turns)})
        return values.appended(raw=answer)

    def append_events(self, *, session_id: str, events: Sequence[Mapping[str, object]]) -> Appended:
        """Append events; one whose sequence is there already changes nothing."""
        answer = self._post(f"sessions/{session_id}/events", {"events": list(events)})
        return values.appended(raw=answer)

    def end_session(self, *, session_id: str) -> Session:
        """End a session, so that what is worth keeping is taken from it."""
        return values.session(raw=self._post(f"sessions/{session_id}/end", {})["session"])

    def _get(self, path: str, query: Mapping[str, object] | None = None) -> dict[str, Any]:
        return self._json(Call(method="GET", path=f"{API}/{path}", query=query))

    def _post(self, path: str, body: object) -> dict[str, Any]:
        return self._json(Call(method="POST", path=f"{API}/{path}", body=body))

    def _upload(self, path: str, name: str, data: bytes, project: str) -> dict[str, Any]:
        query = {"name": name, "project": project or None}
        return self._json(Call(method="POST", path=f"{API}/{path}", query=query, data=data))

    def _pages(self, path: str, query: Mapping[str, object]) -> Iterator[dict[str, Any]]:
        cursor: object = None
        while True:
            page = self._get(path, {**query, "cursor": cursor})
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def _json(self, call: Call) -> dict[str, Any]:
        read = self._transport.send(call=call).json()
        return dict(read)


def _given(body: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in body.items() if value is not None}
