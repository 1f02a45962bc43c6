"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

A line is `{timestamp, type, payload}`: `event_msg` is for people, `response_item` is what
went to and came from the model. Many messages are in both, so the second of a pair is left out.
Tools are read of items alone. The first versions wrote items without an envelope. Written for
versions 0.1 to 0.60.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from . import events
from .claude_code import without_private
from .events import OWN_CALLS, Entry, Event, Line, LineStatus, Parsed, ParserState, Turn, WorkPlace

NAME: Final = "codex"
VERSION: Final = 1
_GIVEN: Final = re.compile(  # what the program puts before a person's words
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions|ENVIRONMENT_CONTEXT)"
    r"|# AGENTS\.md instructions)"
)
_FOLDER: Final = re.compile(r"\s*<environment_context>.*?<cwd>([^<]+)</cwd>", re.DOTALL)
_EXIT: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,5})")
_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
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
Entries = tuple[ParserState, tuple[Entry, ...]] | None  # None: of an unknown kind
_NOTHING: Final = ()


def read(state: ParserState, line: Line) -> Parsed:
    """Read one line."""
    kind, at = events.text_of(line, "type"), events.text_of(line, "timestamp")
    is_begin = not kind and ("instructions" in line or "record_type" in line)
    if kind == "session_meta":
        cwd = events.text_of(events.mapping_of(line, "payload"), "cwd")
        state = replace(state, root=state.root or cwd.rstrip("/"))
    if kind in _SILENT or is_begin:
        return Parsed(state=state, at=at, status=LineStatus.SILENT)
    payload = events.mapping_of(line, "payload") if kind in _ENVELOPES else line
    inner = events.text_of(payload, "type")
    if kind == "event_msg":
        found = _read_event(state, payload)
    elif inner in _SILENT_ITEMS:
        found = state, _NOTHING
    else:
        reader = _ITEMS.get(inner)
        found = None if reader is None else reader(state, payload)
    if found is None:
        return events.unknown(state=state, kind=inner, at=at)
    after, entries = found
    status = LineStatus.READ if entries else LineStatus.SILENT
    return Parsed(state=after, entries=entries, at=at, status=status)


def work_place(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; in the first versions in a text."""
    payload = events.mapping_of(line, "payload") or line
    found = _FOLDER.match(events.text_blocks(content=payload.get("content")))
    git = events.mapping_of(payload, "git")
    return WorkPlace(
        cwd=events.text_of(payload, "cwd") or (found[1].strip() if found else ""),
        branch=events.text_of(git, "branch"),
        commit=events.text_of(git, "commit_hash"),
    )


def _read_event(state: ParserState, payload: Line) -> Entries:
    kind = events.text_of(payload, "type")
    if kind in _SILENT_MESSAGES:
        return state, _NOTHING
    if kind == "user_message":
        return _text_entries(state, "user", events.text_of(payload, "message"), "event")
    if kind == "agent_message":
        return _text_entries(state, "assistant", events.text_of(payload, "message"), "event")
    if kind == "agent_reasoning":
        return _text_entries(state, "reasoning", events.text_of(payload, "text"), "event")
    if kind == "token_count":
        return _complete_step(state, payload)
    return None


def _complete_step(state: ParserState, payload: Line) -> Entries:
    """Complete a step: a count of tokens follows each answer of the model."""
    usage = events.mapping_of(events.mapping_of(payload, "info"), "last_token_usage")
    tokens = events.whole_of(usage, "total_tokens")
    if not tokens:
        return state, _NOTHING
    step = max(state.step, 1)
    done = Event(kind="step_complete", tokens=tokens)
    return replace(state, step=step + 1), (done,)


def _read_message(state: ParserState, item: Line) -> Entries:
    role = events.text_of(item, "role")
    if role not in {"user", "assistant"}:
        return state, _NOTHING
    return _text_entries(state, role, events.text_blocks(content=item.get("content")), "item")


def _read_reasoning(state: ParserState, item: Line) -> Entries:
    words = events.text_blocks(content=item.get("summary"))
    return _text_entries(state, "reasoning", words, "item")


def _text_entries(state: ParserState, role: str, text: str, source: str) -> Entries:
    """Return a text, unless the other source has just had the same."""
    text = "" if _GIVEN.match(text) else without_private(text=text)
    if not text:
        return state, _NOTHING
    mark = events.digest(text=text)
    other = "item" if source == "event" else "event"
    if state.said.get(role) == f"{other} {mark}":
        return replace(state, said={**state.said, role: ""}), _NOTHING
    state = replace(state, said={**state.said, role: f"{source} {mark}"})
    if role == "reasoning":
        return state, (Event(kind="reasoning", text=text),)
    turn = Turn(role=role, text=text)
    return state, (turn, Event(kind="prompt", text=text)) if role == "user" else (turn,)


def _read_call(state: ParserState, item: Line) -> Entries:
    given = events.parsed_json(text=events.text_of(item, "arguments"))
    return _call(state, item, events.arguments(given=given, root=state.root))


def _read_action(state: ParserState, item: Line) -> Entries:
    """Read a call of a tool that the program names by the type of its item."""
    is_shell = events.text_of(item, "type") == "local_shell_call"
    given = events.arguments(given=item.get("action"), root=state.root)
    named = {"name": "shell", **item} if is_shell else {**item, "name": "web_search"}
    return _call(state, named, given)


def _read_custom_call(state: ParserState, item: Line) -> Entries:
    text = events.text_of(item, "input")
    files = _FILE.findall(text)
    if not files:
        return _call(state, item, {})
    sides = {"-": "before", "+": "after"}
    given: dict[str, object] = {"path": files[0].strip()}
    for sign, side in sides.items():
        lines = [line[1:] for line in text.splitlines() if line.startswith(sign)]
        given[side] = "\n".join(lines)
    return _call(state, item, events.arguments(given=given, root=state.root), files=tuple(files))


def _call(
    state: ParserState, item: Line, given: Mapping[str, object], *, files: tuple[str, ...] = ()
) -> Entries:
    name = events.text_of(item, "name")
    call = events.text_of(item, "call_id") or events.text_of(item, "id")
    if not name:
        return state, _NOTHING
    if events.is_own(name=name):
        state = replace(state, own=(*state.own, call)[-OWN_CALLS:])
    named = tuple(events.masked(text=one.strip(), most=400).text for one in files[:50])
    return state, (Event(kind="tool_call", name=name, call=call, arguments=given, files=named),)


def _read_output(state: ParserState, item: Line) -> Entries:
    call = events.text_of(item, "call_id")
    text, is_error = _result(item.get("output"))
    event = Event(
        kind="tool_result",
        call=call,
        text="" if call in state.own else without_private(text=text),
        is_error=is_error,
    )
    return state, (event,)


def _result(output: object) -> tuple[str, bool]:
    """Return what a tool returned, and whether it failed; versions write it in three ways."""
    inner = events.parsed_json(text=output) if isinstance(output, str) else output
    if isinstance(inner, Mapping):
        text = inner.get("output", inner.get("content"))
        code = events.mapping_of(inner, "metadata").get("exit_code")
        failed = inner.get("success") is False or (isinstance(code, int) and code != 0)
        return events.text_blocks(content=text), failed
    text = events.text_blocks(content=output)
    code_said = _EXIT.search(text[:400])
    return text, code_said is not None and code_said[1] != "0"


_ITEMS: Final[Mapping[str, Callable[[ParserState, Line], Entries]]] = {
    "message": _read_message,
    "reasoning": _read_reasoning,
    "function_call": _read_call,
    "custom_tool_call": _read_custom_call,
    "local_shell_call": _read_action,
    "web_search_call": _read_action,
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "local_shell_call_output": _read_output,
}
