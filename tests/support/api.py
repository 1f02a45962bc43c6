"""A client of the REST interface that speaks JSON and fails on nothing."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.test import Client

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, TokenScope

ROOT = "/api/v1/"
STATEMENT = "Prices in the cart are cached for sixty seconds, so tests clear them first."


@dataclass(slots=True, kw_only=True)
class Api:
    """Calls with one token."""

    token: str = ""
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send one call; a bytes body goes as it is."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = named.pop("Content-Type", "application/json")
        if self.token:
            named = {"Authorization": f"Bearer {self.token}", **named}
        address = path if path.startswith("/") else f"{ROOT}{path}"
        return self.client.generic(method, address, content, kind, headers=named)

    def get(self, path: str, **headers: str) -> Any:
        """Send a GET."""
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Send a POST."""
        return self.call("POST", path, {} if body is None else body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        """Send a PATCH."""
        return self.call("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        """Send a DELETE."""
        return self.call("DELETE", path, **headers)

    def remember(self, content: str = STATEMENT, **fields: Any) -> dict[str, Any]:
        """Remember something in the project `shop`; return the memory."""
        body = {"project": "shop", "content": content, "type": "gotcha", **fields}
        memory: dict[str, Any] = self.post("memories", body).json()["memory"]
        return memory


def until_refused(send: Callable[[int], Any], *, most: int) -> list[Any]:
    """Send until one is too many, though a minute may end; return the answers."""
    answers: list[Any] = []
    while len(answers) <= 2 * most and (not answers or answers[-1].status_code != 429):
        answers.append(send(len(answers)))
    return answers


READ_WRITE = frozenset({TokenScope.READ, TokenScope.WRITE})


def agent(caller: Caller, scopes: frozenset[TokenScope] = READ_WRITE) -> Api:
    """Return a client with a new token of somebody's, by default to read and write."""
    new = NewToken(name="laptop", scopes=scopes)
    return Api(token=create_token(caller=caller, new=new, now=datetime.now(UTC)).text)
