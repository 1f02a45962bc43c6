"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`.

A line has a `type`; those of `user` and `assistant` hold a message of blocks. One answer of the
model is written over several lines of one message id: that is a step. Notes of the
program to itself (summaries, snapshots of files, results of its own commands) are silent. Written
for versions 1.0 to 2.1.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from . import events
from .events import OWN_CALLS, Entry, Event, Line, LineStatus, Parsed, ParserState, Turn, WorkPlace

NAME: Final = "claude-code"
VERSION: Final = 1
SILENT: Final = frozenset({
    "agent-name", "attachment", "custom-title", "file-history-snapshot", "last-prompt", "mode",
    "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag",
    "worktree-state",
})  # fmt: skip
_PRIVATE: Final = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_REMINDER: Final = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_COMMAND: Final = re.compile(
    r"\s*<(?:command-|local-command|bash-(?:input|stdout|stderr)|user-memory)"
)


def read(state: ParserState, line: Line) -> Parsed:
    """Read one line."""
    kind, at = events.text_of(line, "type"), events.text_of(line, "timestamp")
    if not state.root:
        state = replace(state, root=events.text_of(line, "cwd").rstrip("/"))
    if isinstance(line.get("isSidechain"), bool):
        is_aside = line["isSidechain"]  # a subagent's line, by its id; empty for the main agent
        agent = events.text_of(line, "agentId") or "sidechain" if is_aside else ""
        state = replace(state, agent=agent)
    if kind == "assistant":
        return _answer(state, line, at)
    if kind == "user":
        return _user(state, line, at)
    if kind in SILENT:
        return Parsed(state=state, at=at, status=LineStatus.SILENT)
    return events.unknown(state=state, kind=kind, at=at)


def work_place(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; the commit is in none."""
    return WorkPlace(cwd=events.text_of(line, "cwd"), branch=events.text_of(line, "gitBranch"))


def without_private(*, text: str) -> str:
    """Return a text without what its writer marked as private, and without reminders."""
    return _REMINDER.sub("", _PRIVATE.sub("", text)).strip()


def _answer(state: ParserState, line: Line, at: str) -> Parsed:
    message = events.mapping_of(line, "message")
    state, entries = _begin_step(state, message)
    for block in _blocks(message):
        state, entry = _entry(state, block)
        if entry is not None:
            entries.append(entry)
    return Parsed(state=state, entries=tuple(entries), at=at)


def _begin_step(state: ParserState, message: Line) -> tuple[ParserState, list[Entry]]:
    """Begin a step with the first line of an answer, which completes the step before."""
    name = events.text_of(message, "id")
    usage = events.mapping_of(message, "usage")
    tokens = sum(events.whole_of(usage, part) for part in ("input_tokens", "output_tokens"))
    if name and name == state.message:
        return replace(state, tokens=max(tokens, state.tokens)), []
    done: list[Entry] = []
    if state.step:
        done.append(Event(kind="step_complete", tokens=state.tokens))
    return replace(state, step=state.step + 1, message=name, tokens=tokens), done


def _entry(state: ParserState, block: Line) -> tuple[ParserState, Entry | None]:
    kind = events.text_of(block, "type")
    if kind == "text":
        text = without_private(text=events.text_of(block, "text"))
        return state, Turn(role="assistant", text=text) if text else None
    if kind == "thinking":
        text = without_private(text=events.text_of(block, "thinking"))
        return state, Event(kind="reasoning", text=text) if text else None
    if kind in {"tool_use", "server_tool_use"}:
        return _call(state, block)
    return state, None


def _call(state: ParserState, block: Line) -> tuple[ParserState, Entry | None]:
    name, call = events.text_of(block, "name"), events.text_of(block, "id")
    if not name:
        return state, None
    if events.is_own(name=name):
        state = replace(state, own=(*state.own, call)[-OWN_CALLS:])
    arguments = events.arguments(given=block.get("input"), root=state.root)
    return state, Event(kind="tool_call", name=name, call=call, arguments=arguments)


def _user(state: ParserState, line: Line, at: str) -> Parsed:
    if line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return Parsed(state=state, at=at, status=LineStatus.SILENT)
    message = events.mapping_of(line, "message")
    entries = [*_results(state, message), *_prompt(message)]
    status = LineStatus.READ if entries else LineStatus.SILENT
    return Parsed(state=state, entries=tuple(entries), at=at, status=status)


def _results(state: ParserState, message: Line) -> Iterator[Entry]:
    for block in _blocks(message):
        if block.get("type") == "tool_result":
            call = events.text_of(block, "tool_use_id")
            text = events.text_blocks(content=block.get("content"))
            yield Event(
                kind="tool_result",
                call=call,
                text="" if call in state.own else without_private(text=text),
                is_error=block.get("is_error") is True,
            )


def _prompt(message: Line) -> Iterator[Entry]:
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [
        events.text_of(block, "text") for block in _blocks(message)
        if block.get("type") == "text"
    ]  # fmt: skip
    text = "\n".join(one for one in map(_spoken, texts) if one)
    if text:
        yield Turn(role="user", text=text)
        yield Event(kind="prompt", text=text)


def _spoken(text: str) -> str:
    """Return what a person said; commands of the program and their output are none of it."""
    return "" if _COMMAND.match(text) else without_private(text=text)


def _blocks(message: Line) -> Iterator[Line]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block
