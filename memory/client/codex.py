"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

A line is `{timestamp, type, payload}`: `event_msg` tells people what happens, `response_item` is
what went to and came from the model. Many a message stands in both, so the second of a pair is left
out. Tools are read of items alone. The first versions wrote items bare, without an envelope. Known
of versions 0.1 to 0.60.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from . import transcripts
from .claude_code import without_private
from .transcripts import OWN_CALLS, About, Entry, Event, Line, Parsed, Standing, State, Turn

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
Found = tuple[State, tuple[Entry, ...]] | None  # None: of a kind that nobody knows
_SAYS_NOTHING: Final = ()


def read(state: State, line: Line) -> Parsed:
    """Read one line."""
    kind, at = transcripts.text_of(line, "type"), transcripts.text_of(line, "timestamp")
    is_begin = not kind and ("instructions" in line or "record_type" in line)
    if kind == "session_meta":
        cwd = transcripts.text_of(transcripts.mapping_of(line, "payload"), "cwd")
        state = replace(state, root=state.root or cwd.rstrip("/"))
    if kind in _SILENT or is_begin:
        return Parsed(state=state, at=at, standing=Standing.SILENT)
    payload = transcripts.mapping_of(line, "payload") if kind in _ENVELOPES else line
    inner = transcripts.text_of(payload, "type")
    found = _message(state, payload) if kind == "event_msg" else _item(state, payload)
    if found is None:
        return transcripts.unknown(state=state, kind=inner, at=at)
    after, entries = found
    standing = Standing.READ if entries else Standing.SILENT
    return Parsed(state=after, entries=entries, at=at, standing=standing)


def about(line: Line) -> About:
    """Return where the work is, as a line tells it; the first versions told the folder in words."""
    payload = transcripts.mapping_of(line, "payload") or line
    found = _FOLDER.match(transcripts.words_of(content=payload.get("content")))
    git = transcripts.mapping_of(payload, "git")
    return About(
        cwd=transcripts.text_of(payload, "cwd") or (found[1].strip() if found else ""),
        branch=transcripts.text_of(git, "branch"),
        commit=transcripts.text_of(git, "commit_hash"),
    )


def _message(state: State, payload: Line) -> Found:
    kind = transcripts.text_of(payload, "type")
    if kind in _SILENT_MESSAGES:
        return state, _SAYS_NOTHING
    if kind == "user_message":
        return _said(state, "user", transcripts.text_of(payload, "message"), "event")
    if kind == "agent_message":
        return _said(state, "assistant", transcripts.text_of(payload, "message"), "event")
    if kind == "agent_reasoning":
        return _said(state, "reasoning", transcripts.text_of(payload, "text"), "event")
    if kind == "token_count":
        return _counted(state, payload)
    return None


def _counted(state: State, payload: Line) -> Found:
    """A count of tokens follows each answer of the model: that is a step."""
    usage = transcripts.mapping_of(transcripts.mapping_of(payload, "info"), "last_token_usage")
    tokens = transcripts.whole_of(usage, "total_tokens")
    if not tokens:
        return state, _SAYS_NOTHING
    step = max(state.step, 1)
    done = Event(kind="step_complete", tokens=tokens)
    return replace(state, step=step + 1), (done,)


def _item(state: State, item: Line) -> Found:
    kind = transcripts.text_of(item, "type")
    if kind in _SILENT_ITEMS:
        return state, _SAYS_NOTHING
    reader = _ITEMS.get(kind)
    return None if reader is None else reader(state, item)


def _spoken(state: State, item: Line) -> Found:
    role = transcripts.text_of(item, "role")
    if role not in {"user", "assistant"}:
        return state, _SAYS_NOTHING
    return _said(state, role, transcripts.words_of(content=item.get("content")), "item")


def _thought(state: State, item: Line) -> Found:
    words = transcripts.words_of(content=item.get("summary"))
    return _said(state, "reasoning", words, "item")


def _said(state: State, role: str, text: str, source: str) -> Found:
    """Keep what was said, unless the other source has just said the same."""
    text = "" if _GIVEN.match(text) else without_private(text=text)
    if not text:
        return state, _SAYS_NOTHING
    mark = transcripts.digest(text=text)
    other = "item" if source == "event" else "event"
    if state.said.get(role) == f"{other} {mark}":
        return replace(state, said={**state.said, role: ""}), _SAYS_NOTHING
    state = replace(state, said={**state.said, role: f"{source} {mark}"})
    if role == "reasoning":
        return state, (Event(kind="reasoning", text=text),)
    turn = Turn(role=role, text=text)
    return state, (turn, Event(kind="prompt", text=text)) if role == "user" else (turn,)


def _called(state: State, item: Line) -> Found:
    given = transcripts.parsed_json(text=transcripts.text_of(item, "arguments"))
    return _call(state, item, transcripts.arguments(given=given, root=state.root))


def _ran(state: State, item: Line) -> Found:
    given = transcripts.arguments(given=item.get("action"), root=state.root)
    return _call(state, {"name": "shell", **item}, given)


def _searched(state: State, item: Line) -> Found:
    given = transcripts.arguments(given=item.get("action"), root=state.root)
    return _call(state, {**item, "name": "web_search"}, given)


def _custom(state: State, item: Line) -> Found:
    text = transcripts.text_of(item, "input")
    files = _FILE.findall(text)
    if not files:
        return _call(state, item, {})
    sides = {"-": "before", "+": "after"}
    given: dict[str, object] = {"path": files[0].strip()}
    for sign, side in sides.items():
        lines = [line[1:] for line in text.splitlines() if line.startswith(sign)]
        given[side] = "\n".join(lines)
    return _call(
        state, item, transcripts.arguments(given=given, root=state.root), files=tuple(files)
    )


def _call(
    state: State, item: Line, given: Mapping[str, object], *, files: tuple[str, ...] = ()
) -> Found:
    name = transcripts.text_of(item, "name")
    call = transcripts.text_of(item, "call_id") or transcripts.text_of(item, "id")
    if not name:
        return state, _SAYS_NOTHING
    if transcripts.is_own(name=name):
        state = replace(state, own=(*state.own, call)[-OWN_CALLS:])
    named = tuple(transcripts.masked(text=one.strip(), most=400).text for one in files[:50])
    return state, (Event(kind="tool_call", name=name, call=call, arguments=given, files=named),)


def _answered(state: State, item: Line) -> Found:
    call = transcripts.text_of(item, "call_id")
    text, is_error = _output(item.get("output"))
    event = Event(
        kind="tool_result",
        call=call,
        text="" if call in state.own else without_private(text=text),
        is_error=is_error,
    )
    return state, (event,)


def _output(output: object) -> tuple[str, bool]:
    """Return what a tool said, and whether it failed; versions write it in three ways."""
    inner = transcripts.parsed_json(text=output) if isinstance(output, str) else output
    if isinstance(inner, Mapping):
        text = inner.get("output", inner.get("content"))
        code = transcripts.mapping_of(inner, "metadata").get("exit_code")
        failed = inner.get("success") is False or (isinstance(code, int) and code != 0)
        return transcripts.words_of(content=text), failed
    text = transcripts.words_of(content=output)
    code_said = _EXIT.search(text[:400])
    return text, code_said is not None and code_said[1] != "0"


_ITEMS: Final[Mapping[str, Callable[[State, Line], Found]]] = {
    "message": _spoken,
    "reasoning": _thought,
    "function_call": _called,
    "custom_tool_call": _custom,
    "local_shell_call": _ran,
    "web_search_call": _searched,
    "function_call_output": _answered,
    "custom_tool_call_output": _answered,
    "local_shell_call_output": _answered,
}
