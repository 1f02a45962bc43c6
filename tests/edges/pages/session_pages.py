"""Pages of the project `shop` in the browsers of its people, and sessions to show on them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from memory.records.models import Memory
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.sessions.models import GivenOut
from tests.support.agent_runs import Run
from tests.support.browser_client import PageClient
from tests.support.memories import as_agent, stored


def signed_in(user: User) -> Client:
    """Return the browser of somebody signed in."""
    client = PageClient(raise_request_exception=False)
    client.force_login(user)
    return client


class Pages:
    """The project's pages; `owner`, `member`, `viewer` and `stranger` are browsers."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self.shop: str = request.getfixturevalue("shop")
        self.caller: Caller = request.getfixturevalue("caller")
        self.now: datetime = request.getfixturevalue("now")

    def __getattr__(self, name: str) -> Client:
        """Sign a person in, once."""
        client = self.__dict__[name] = signed_in(self._request.getfixturevalue(name))
        return client

    def newest(self, memory: MemoryView) -> MemoryView:
        """Return a memory as it is now."""
        with entered(self.caller):
            return memories.get(caller=self.caller, memory_id=memory.id, now=datetime.now(UTC))

    def opened(
        self, *texts: str, by: Caller | None = None, seconds: float = 0, **new: Any
    ) -> "PageRun":
        """Open a session of the project in which something was said."""
        by, now = by or self.caller, self.now + timedelta(seconds=seconds)
        with entered(by):
            run = PageRun(by, now, **{"project": "shop", "agent": "claude-code", **new})
            if texts:
                run.says(*texts)
        run.address = f"{self.shop}sessions/{run.id}"
        return run

    def text(self, address: str, client: Client | None = None, **more: Any) -> str:
        """Return the text of a page, as the owner sees it or somebody else."""
        return (client or self.owner).get(address, **more).text

    def came(self, run: Run, *texts: str) -> list[UUID]:
        """Let a session come to memories that its agent proposed and that wait."""
        with entered(self.caller):
            agent = as_agent(self.caller)
            fields = {"project": "shop", "source": "agent_explicit"}
            made = [stored(agent, self.now, text, **fields).id for text in texts]
            with tenancy.unit():
                rows = Memory.objects.filter(pk__in=made)
                rows.update(session_id=run.id, needs_review=True, author_user=None)
        return made

    def states(self, *ids: UUID) -> list[tuple[str, bool]]:
        """Return status and waiting of memories, in the order asked for."""
        with entered(self.caller), tenancy.unit():
            rows = {row.pk: row for row in Memory.objects.filter(pk__in=ids)}
            return [(rows[one].status, rows[one].needs_review) for one in ids]

    def give(self, run: Run, content: str, *, seconds: float = 0, **fields: Any) -> None:
        """Note that a memory was given to a session behind its fourth event."""
        at = self.now + timedelta(seconds=seconds)
        with entered(self.caller):
            memory = stored(self.caller, at, content, **fields)
            with tenancy.unit():
                GivenOut.objects.create(
                    person=self.caller.user_id, memory_id=memory.id, at=at, session_id=run.id,
                    point="tool_result", tokens=31, after_event=4,
                )  # fmt: skip


class PageRun(Run):
    """A session with a page."""

    address = ""

    def finish(self) -> None:
        """End it, decide about it and take what is worth keeping."""
        with entered(self.caller):
            self.finalized()
            self.consolidated()


def toast_of(answer: HttpResponse) -> dict[str, str]:
    """Return what a page says shortly after something was done."""
    found: dict[str, str] = json.loads(answer["HX-Trigger"])["cairn:toast"]
    return found
