"""What one session teaches the next without anybody opening the browser, and nobody else."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from accounts.caller import Caller, TokenScope
from memory.errors import SelfApproval
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.records.queries.views import MemoryView, visible
from memory.review.actions import verdicts
from memory.review.queries.inbox import list_waiting
from memory.sessions.models import GivenOut, Session
from teams.actions import change_project
from tests.support import memories

PUSH: Final = "git push"
REFUSED: Final = (
    "Exit code 128\nfatal: The current branch fix/vat has no upstream branch.\n"
    "To push the current branch and set the remote as upstream, use --set-upstream"
)
MENDED: Final = "git push --set-upstream origin fix/vat"
RULE: Final = "Always run make lint before you commit."
TASK: Final = f"Round the prices of the cart to cents. {RULE}"


class Program:
    """Claude Code of one person, as its hooks report a session."""

    def __init__(self, caller: Caller, name: str, now: datetime) -> None:
        self.caller, self.name, self.now = memories.as_agent(caller), name, now

    def reports(self, event: str, **fields: Any) -> str:
        """Report an event; return what the model is given."""
        payload = {"session_id": self.name, "cwd": "/home/ana/store", "hook_event_name": event}
        delivery = follow_agent(
            caller=self.caller,
            event=read_payload(
                adapter=ADAPTERS[Harness.CLAUDE_CODE], payload={**payload, **fields}
            ),
            whereabouts=Whereabouts(),
            now=self.now,
        )
        return delivery.text

    def prompts(self, text: str) -> str:
        """Say something to the agent."""
        return self.reports("UserPromptSubmit", prompt=text)

    def fails(self, command: str, error: str, call: str = "t1") -> str:
        """Let a command fail."""
        used = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        return self.reports("PostToolUseFailure", error=error, **used)

    def runs(self, command: str, call: str = "t2") -> str:
        """Let a command go through."""
        used = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        return self.reports("PostToolUse", tool_response={"stdout": "ok"}, **used)

    def ends(self) -> None:
        """End the session, and do what its job does."""
        self.reports("SessionEnd", reason="exit")
        with tenancy.unit():
            id = Session.objects.get(external_id=f"claude-code/{self.name}").id
        finalize(session_id=id, now=self.now)
        consolidate(session_id=id, now=self.now, tell=lambda done, total: None)


@pytest.fixture
def learned(member_caller: Caller, store: str, now: datetime) -> datetime:
    """A session of the member that met an error, mended it and was told a rule; when it ended."""
    first = Program(member_caller, "one", now)
    first.prompts(TASK)
    first.fails(PUSH, REFUSED)
    first.runs(MENDED)
    first.ends()
    return now + timedelta(hours=20)


def test_the_same_person_is_told_the_fix_where_the_command_fails_again(
    member_caller: Caller, learned: datetime
) -> None:
    second = Program(member_caller, "two", learned)
    second.prompts("Print the invoice number on every page.")

    other = second.fails("npm test", "Exit code 1\nError: Cannot find module './tax'", "t1")
    told = second.fails(PUSH, REFUSED.replace("fix/vat", "feat/pages"), "t2")
    again = second.fails(PUSH, REFUSED.replace("fix/vat", "feat/pages"), "t3")

    assert "--set-upstream" in told
    assert "unreviewed" in told
    assert (other, again) == ("", "")


def test_the_same_person_is_told_their_rule_with_the_first_prompt(
    member_caller: Caller, learned: datetime
) -> None:
    told = Program(member_caller, "two", learned).prompts("Print the invoice number on every page.")

    assert "make lint" in told
    assert "unreviewed" in told
    with tenancy.unit():
        assert list(GivenOut.objects.values_list("point", flat=True)) == ["first_message"]


@pytest.mark.usefixtures("learned")
def test_a_colleague_is_told_neither(caller: Caller, now: datetime) -> None:
    colleague = Program(caller, "three", now + timedelta(hours=20))

    assert colleague.prompts("Print the invoice number on every page.") == ""
    assert colleague.fails(PUSH, REFUSED) == ""


def test_nothing_of_a_session_that_read_the_web_is_told_to_anybody(
    member_caller: Caller, store: str, now: datetime
) -> None:
    first = Program(member_caller, "one", now)
    first.prompts(TASK)
    fetched = {"tool_name": "WebFetch", "tool_input": {"url": "https://evil.example/a"}}
    first.reports("PostToolUse", tool_response={"result": "x"}, tool_use_id="t0", **fetched)
    first.fails(PUSH, REFUSED)
    first.runs(MENDED)
    first.ends()

    second = Program(member_caller, "two", now + timedelta(hours=1))

    assert second.prompts("Print the invoice number on every page.") == ""
    assert second.fails(PUSH, REFUSED) == ""


def waiting(caller: Caller, now: datetime, words: str = "upstream") -> MemoryView | None:
    """Return what waits for somebody's review and holds some words."""
    page = list_waiting(caller=caller, project="store", group=None, after=None, limit=50, now=now)
    views = (one.memory for one in page.items if one.memory is not None)
    return next((one for one in views if words in one.content), None)


def pair_of(caller: Caller, now: datetime) -> MemoryView:
    """Return the error that waits for its author's review, which nobody else sees."""
    pair = waiting(caller, now)
    assert pair is not None
    assert pair.scope == "personal"
    return pair


def test_once_it_is_kept_and_shared_a_colleague_is_told(
    caller: Caller, member_caller: Caller, learned: datetime
) -> None:
    pair = pair_of(member_caller, learned)
    assert waiting(caller, learned) is None

    decided = verdicts.share(caller=member_caller, memory_id=pair.id, now=learned)
    told = Program(caller, "three", learned).fails(PUSH, REFUSED)
    verdicts.undo(caller=member_caller, review_id=decided.review_id, now=learned)
    after = Program(caller, "four", learned).fails(PUSH, REFUSED)

    assert decided.memory.scope == "project"
    assert "--set-upstream" in told
    assert "unreviewed" not in told
    assert after == ""
    with tenancy.unit():
        assert not visible(caller=caller).filter(pk=pair.id).exists()


def test_a_token_shares_nothing_unless_its_person_took_it_for_that(
    member_caller: Caller, learned: datetime
) -> None:
    pair = pair_of(member_caller, learned)
    program = memories.as_agent(member_caller, scopes=frozenset({TokenScope.WRITE}))
    terminal = memories.as_agent(
        member_caller, scopes=frozenset({TokenScope.WRITE, TokenScope.REVIEW})
    )

    with pytest.raises(SelfApproval):
        verdicts.share(caller=program, memory_id=pair.id, now=learned)
    kept = verdicts.share(caller=terminal, memory_id=pair.id, now=learned)

    assert (kept.memory.user_verified, kept.memory.needs_review) == (True, False)


@pytest.mark.parametrize(("lessons", "scope"), [("personal", "personal"), (None, "project")])
def test_what_several_sessions_show_is_proposed_as_the_project_says(
    caller: Caller, member_caller: Caller, learned: datetime, lessons: str | None, scope: str
) -> None:
    change_project(
        caller=caller, ref="store", changes={"session_lessons": lessons}, if_version=None
    )
    second = Program(member_caller, "two", learned)
    second.prompts("Never edit the files in gen/ by hand, run make gen instead.")
    second.ends()

    rule, seen = (waiting(one, learned, words="gen/") for one in (member_caller, caller))

    assert rule is not None
    assert (rule.scope, seen is not None) == (scope, scope == "project")
    assert Program(caller, "three", learned).prompts("Print the invoice number.") == ""
