"""Candidates, agents and short ways to store something for tests."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from accounts.caller import Caller, Role, TokenScope
from memory.intake.actions.remember import NewMemory, Outcome, remember
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import Correction, edit

REDIS = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
CARTS = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
PARSER = "parse_invoice_lines in billing/parser.py drops lines without a tax code."


def new(content: str = REDIS, **given: Any) -> NewMemory:
    """Return a candidate that a person taught."""
    return NewMemory(**{"content": content, "source": "user_taught", **given})


def stored(caller: Caller, now: datetime, content: str = REDIS, **given: Any) -> MemoryView:
    """Store a memory and return it."""
    memory = sent(caller, now, content, **given).memory
    assert memory is not None
    return memory


def sent(caller: Caller, now: datetime, content: str = REDIS, **given: Any) -> Outcome:
    """Send a candidate through the door."""
    return remember(caller=caller, new=new(content, **given), now=now)


def view(number: int, content: str = "", **given: Any) -> MemoryView:
    """Return a memory of this id as a value; what is not given is None."""
    usual = dict.fromkeys(MemoryView.__dataclass_fields__)
    known = {"id": UUID(int=number), "type": "gotcha", "content": content, "related_files": ()}
    return MemoryView(**{**usual, **known, "citation": content[:40], **given})


def as_agent(caller: Caller, **given: Any) -> Caller:
    """Return the caller that an agent with the person's token is; it decides for nobody."""
    agent = {"token_id": uuid4(), "agent": "claude-code", "source_interface": "claude-code"}
    scopes = caller.scopes - {TokenScope.REVIEW}
    return replace(caller, **{"scopes": scopes, **agent, **given})


def as_role(caller: Caller, role: Role) -> Caller:
    """Return the same person in another role."""
    return replace(caller, role=role)


def correct(
    *, caller: Caller, memory_id: UUID, content: str, kind: str, reason: str, now: datetime
) -> Outcome:
    """Put a corrected memory in the place of a wrong one."""
    correction = Correction(content=content, kind=kind, reason=reason)
    return edit(caller=caller, memory_id=memory_id, correction=correction, now=now).outcome
