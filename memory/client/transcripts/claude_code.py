"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`.

A line has a `type`; those of `user` and `assistant` hold a message of blocks. One answer of the
model is written over several lines of one message id: that is a step. Notes of the
program to itself (summaries, snapshots of files, results of its own commands) are silent. Written
for versions 1.0 to 2.1.
"""

import re
from collections.abc import Iterator
from typing import Final

from . import entries
from .entries import (
    Entries,
    Line,
    ParserState,
    TranscriptEvent,
    TranscriptTurn,
    UnknownKind,
    WorkPlace,
    mapping_of,
    text_of,
    without_private,
)

SILENT: Final = frozenset({
    "agent-name", "attachment", "custom-title", "file-history-snapshot", "last-prompt", "mode",
    "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag",
    "worktree-state",
})  # fmt: skip
_COMMAND: Final = re.compile(  # commands of the program and their output: nobody said them
    r"\s*<(?:command-|local-command|bash-(?:input|stdout|stderr)|user-memory)"
)


def read(state: ParserState, line: Line) -> Entries:
    """Yield the turns and events of a line. Raises UnknownKind."""
    kind, message = text_of(line, "type"), mapping_of(line, "message")
    state.root = state.root or text_of(line, "cwd").rstrip("/")
    if isinstance(line.get("isSidechain"), bool):  # a subagent's line, by its id
        state.agent = (text_of(line, "agentId") or "sidechain") if line["isSidechain"] else ""
    if kind == "assistant":
        yield from _begin_step(state, message)
        for block in _blocks(message):
            yield from _answer(state, block)
    elif kind == "user":
        if line.get("isMeta") is not True and line.get("isCompactSummary") is not True:
            yield from _user(state, message)
    elif kind not in SILENT:
        raise UnknownKind(kind)


def work_place(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; the commit is in none."""
    return WorkPlace(cwd=text_of(line, "cwd"), branch=text_of(line, "gitBranch"))


def _begin_step(state: ParserState, message: Line) -> Entries:
    """Begin a step with the first line of an answer, which completes the step before."""
    name, usage = text_of(message, "id"), mapping_of(message, "usage")
    tokens = sum(entries.count_of(usage, part) for part in ("input_tokens", "output_tokens"))
    if name and name == state.message:
        state.tokens = max(tokens, state.tokens)
        return
    if state.step:
        yield TranscriptEvent(kind="step_complete", tokens=state.tokens)
    state.step, state.message, state.tokens = state.step + 1, name, tokens


def _answer(state: ParserState, block: Line) -> Entries:
    kind = text_of(block, "type")
    text = without_private(text=text_of(block, kind)) if kind in {"text", "thinking"} else ""
    if text and kind == "text":
        yield TranscriptTurn(role="assistant", text=text)
    elif text:
        yield TranscriptEvent(kind="reasoning", text=text)
    if kind in {"tool_use", "server_tool_use"}:
        given = entries.arguments(given=block.get("input"), root=state.root)
        yield from entries.call_entries(state, text_of(block, "name"), text_of(block, "id"), given)


def _user(state: ParserState, message: Line) -> Entries:
    """Yield results of tools, then what a person said."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    for block in _blocks(message):
        if block.get("type") == "text":
            texts.append(text_of(block, "text"))
        if block.get("type") == "tool_result":
            text = entries.text_blocks(content=block.get("content"))
            is_error = block.get("is_error") is True
            call = text_of(block, "tool_use_id")
            yield entries.result_event(state, call, text, is_error=is_error)
    spoken = (without_private(text=text) for text in texts if not _COMMAND.match(text))
    text = "\n".join(filter(None, spoken))
    if text:
        yield TranscriptTurn(role="user", text=text)
        yield TranscriptEvent(kind="prompt", text=text)


def _blocks(message: Line) -> Iterator[Line]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return (block for block in blocks if isinstance(block, dict))
