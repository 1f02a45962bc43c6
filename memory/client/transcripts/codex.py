"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

A line is `{timestamp, type, payload}`: `event_msg` is for people, `response_item` is what
went to and came from the model. Many messages are in both, so the second of a pair is left out.
Tools are read of items alone. The first versions wrote items without an envelope. Written for
versions 0.1 to 0.60.
"""

import re
from collections.abc import Callable, Mapping
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
    text_blocks,
    text_of,
)

_GIVEN: Final = re.compile(  # what the program puts before a person's words
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions|ENVIRONMENT_CONTEXT)"
    r"|# AGENTS\.md instructions)"
)
_FOLDER: Final = re.compile(r"\s*<environment_context>.*?<cwd>([^<]+)</cwd>", re.DOTALL)
_EXIT: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,5})")
_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
FILES_MOST: Final = 50  # of one patch; default
_ENVELOPES: Final = frozenset({"event_msg", "response_item"})
_SILENT: Final = frozenset({"session_meta", "turn_context", "compacted", "world_state"})
_SILENT_MESSAGES: Final = frozenset({
    "agent_message_delta", "agent_reasoning_delta", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "background_event", "context_compacted", "entered_review_mode",
    "error", "exec_approval_request", "exec_command_begin", "exec_command_end",
    "exec_command_output_delta", "exited_review_mode", "get_history_entry_response",
    "item_completed", "item_started", "mcp_startup_complete", "mcp_tool_call_begin",
    "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end", "plan_update",
    "session_configured", "stream_error", "task_complete", "task_started",
    "thread_name_updated", "turn_aborted",
    "turn_complete", "turn_diff", "turn_started", "undo_completed", "undo_started",
    "view_image_tool_call", "warning", "web_search_begin", "web_search_end",
})  # fmt: skip
_SILENT_ITEMS: Final = frozenset({"compaction", "ghost_snapshot", "item_reference", "other"})


def read(state: ParserState, line: Line) -> Entries:
    """Yield the turns and events of a line. Raises UnknownKind."""
    kind = text_of(line, "type")
    if kind == "session_meta":
        cwd = text_of(mapping_of(line, "payload"), "cwd")
        state.root = state.root or cwd.rstrip("/")
    is_begin = not kind and ("instructions" in line or "record_type" in line)
    if kind in _SILENT or is_begin:
        return
    payload = mapping_of(line, "payload") if kind in _ENVELOPES else line
    inner = text_of(payload, "type")
    is_message = kind == "event_msg"
    reader = (_MESSAGES if is_message else _ITEMS).get(inner)
    if reader is not None:
        yield from reader(state, payload)
    elif inner not in (_SILENT_MESSAGES if is_message else _SILENT_ITEMS):
        raise UnknownKind(inner)


def work_place(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; in the first versions in a text."""
    payload = mapping_of(line, "payload") or line
    found = _FOLDER.match(text_blocks(content=payload.get("content")))
    git = mapping_of(payload, "git")
    return WorkPlace(
        cwd=text_of(payload, "cwd") or (found[1].strip() if found else ""),
        branch=text_of(git, "branch"),
        commit=text_of(git, "commit_hash"),
    )


def _read_text(state: ParserState, role: str, text: str, source: str) -> Entries:
    """Yield a text, unless the other source has just had the same."""
    text = "" if _GIVEN.match(text) else entries.without_private(text=text)
    if not text:
        return
    mark = entries.digest(text=text)
    other = "item" if source == "event" else "event"
    if state.said.get(role) == f"{other} {mark}":
        state.said = {**state.said, role: ""}
        return
    state.said = {**state.said, role: f"{source} {mark}"}
    if role == "reasoning":
        yield TranscriptEvent(kind="reasoning", text=text)
        return
    yield TranscriptTurn(role=role, text=text)
    if role == "user":
        yield TranscriptEvent(kind="prompt", text=text)


def _complete_step(state: ParserState, payload: Line) -> Entries:
    """Complete a step: a count of tokens follows each answer of the model."""
    usage = mapping_of(mapping_of(payload, "info"), "last_token_usage")
    tokens = entries.count_of(usage, "total_tokens")
    if tokens:
        state.step = max(state.step, 1) + 1
        yield TranscriptEvent(kind="step_complete", tokens=tokens)


def _read_message(state: ParserState, item: Line) -> Entries:
    role = text_of(item, "role")
    if role in {"user", "assistant"}:
        yield from _read_text(state, role, text_blocks(content=item.get("content")), "item")


def _read_call(state: ParserState, item: Line) -> Entries:
    """Read a call; some tools are named by the type of its item alone."""
    kind, name = text_of(item, "type"), text_of(item, "name")
    if kind == "function_call":
        given = entries.parsed_json(text=text_of(item, "arguments"))
    else:
        given = item.get("action")
        name = "web_search" if kind == "web_search_call" else name or "shell"
    call = text_of(item, "call_id") or text_of(item, "id")
    made = entries.arguments(given=given, root=state.root)
    return entries.call_entries(state, name, call, made)


def _read_custom_call(state: ParserState, item: Line) -> Entries:
    """Read a call whose input is a text: of a patch its files, and its sides."""
    text = text_of(item, "input")
    files = [path.strip() for path in _FILE.findall(text)]
    given: dict[str, object] = {"path": files[0]} if files else {}
    for sign, side in (("-", "before"), ("+", "after")) if files else ():
        lines = [line[1:] for line in text.splitlines() if line.startswith(sign)]
        given[side] = "\n".join(lines)
    call = text_of(item, "call_id") or text_of(item, "id")
    made = entries.arguments(given=given, root=state.root)
    most = entries.TARGET_MOST
    named = tuple(entries.masked(text=path, most=most).text for path in files[:FILES_MOST])
    return entries.call_entries(state, text_of(item, "name"), call, made, named)


def _read_output(state: ParserState, item: Line) -> Entries:
    """Read what a tool returned, and whether it failed; versions write it in three ways."""
    output = item.get("output")
    inner = entries.parsed_json(text=output) if isinstance(output, str) else output
    if isinstance(inner, Mapping):
        text = text_blocks(content=inner.get("output", inner.get("content")))
        code = mapping_of(inner, "metadata").get("exit_code")
        is_error = inner.get("success") is False or (isinstance(code, int) and code != 0)
    else:
        text = text_blocks(content=output)
        exit_code = _EXIT.search(text[:400])
        is_error = exit_code is not None and exit_code[1] != "0"
    yield entries.result_event(state, text_of(item, "call_id"), text, is_error=is_error)


_Reader = Callable[[ParserState, Line], Entries]
_MESSAGES: Final[Mapping[str, _Reader]] = {
    "user_message": lambda state, one: _read_text(state, "user", text_of(one, "message"), "event"),
    "agent_message": lambda state, one: _read_text(
        state, "assistant", text_of(one, "message"), "event"
    ),
    "agent_reasoning": lambda state, one: _read_text(
        state, "reasoning", text_of(one, "text"), "event"
    ),
    "token_count": _complete_step,
}
_ITEMS: Final[Mapping[str, _Reader]] = {
    "message": _read_message,
    "reasoning": lambda state, one: _read_text(
        state, "reasoning", text_blocks(content=one.get("summary")), "item"
    ),
    "function_call": _read_call,
    "custom_tool_call": _read_custom_call,
    "local_shell_call": _read_call,
    "web_search_call": _read_call,
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "local_shell_call_output": _read_output,
}
