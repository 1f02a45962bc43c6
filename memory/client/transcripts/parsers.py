"""Turns and events of a transcript, whatever program wrote it.

A parser gets the state after the line before and one line of JSON; it changes the state and yields
the turns and events of the line. States are small and can be stored, so that reading resumes where
it stopped. Formats drift: what a parser does not know becomes an event of an unknown kind, by its
name alone.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .. import code_files, masking

STRIDE: Final = 128  # sequence numbers a line; so a number follows from its line alone
TARGET_MOST: Final = 400  # characters of a path or an address, the server's
ADDED_LINES: Final = 3  # of an edit that are sent at most, the server's
COMMAND_MOST: Final = 16_000  # characters of a command, the server's
SCANNED_MOST: Final = 1_000_000  # characters of a text that are scanned for secrets; default
MARGIN: Final = 600  # characters left off where a text ends there: half a secret is not sent
OWN_SERVERS: Final = frozenset({"cairn", "plugin_cairn_cairn"})
OWN_QUESTION: Final = "a question of Cairn, the shared memory of this team"  # no person's words
OWN_CALLS: Final = 64  # of Cairn's tools, whose answers are not learned again
_PRIVATE: Final = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_REMINDER: Final = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {  # by what tools call them
    "path": ("file_path", "path", "notebook_path", "filename", "file", "target_file"),
    "pattern": ("pattern", "glob", "regex", "query", "glob_pattern"),
    "command": ("command", "cmd", "script"),
    "url": ("url", "uri"),
}
_DIGESTED: Final[Mapping[str, tuple[str, ...]]] = {
    "before": ("old_string", "old_str", "old_text", "before"),
    "after": ("new_string", "new_str", "new_text", "after", "content"),
}
_LINES: Final = ("offset", "line", "start_line", "insert_line")

Line = Mapping[str, Any]
_SILENT_LINES: Final = frozenset({
    "agent-name", "attachment", "custom-title", "file-history-snapshot", "last-prompt", "mode",
    "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag",
    "user", "worktree-state",  # "user": notes of the program, which nobody said
})  # fmt: skip
_COMMAND: Final = re.compile(  # commands of the program and their output: nobody said them
    r"\s*<(?:command-|local-command|bash-(?:input|stdout|stderr)|user-memory)"
)
_SETTING: Final = re.compile(  # files of settings, by their names; not those that hold secrets
    r"(?:\A|/)config/[\w.-]+\.(?:exs|rb|php|js)\Z|\.(?:toml|ini|cfg|ya?ml|conf)\Z|(?:\A|/)(?:package|tsconfig)\.json\Z"
    r"|(?:\A|/)(?:mix\.exs|Makefile|Dockerfile|Gemfile|go\.mod|requirements\.txt|conftest\.py)\Z"
    r"|\.config\.\w+\Z|(?:\A|/)\.?\w+(?:rc|ignore)\Z"
)
_IMPORTS: Final = re.compile(r"(?:import|from|use|using|require|require_relative|include|alias)\b")
_GIVEN: Final = re.compile(  # what the program puts before a person's words
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions|ENVIRONMENT_CONTEXT)"
    r"|# AGENTS\.md instructions)"
)
_FOLDER: Final = re.compile(r"\s*<environment_context>.*?<cwd>([^<]+)</cwd>", re.DOTALL)
_EXIT: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,5})")
_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
FILES_MOST: Final = 50  # of one patch; default
_ENVELOPES: Final = frozenset({"event_msg", "response_item"})
_BEGINNINGS: Final = frozenset({"instructions", "record_type"})  # of files of the first versions
_SILENT_KINDS: Final = frozenset({
    "session_meta", "turn_context", "compacted", "world_state", "token_usage_record",
})  # fmt: skip
_SILENT_MESSAGES: Final = (
    "agent_message_delta", "agent_reasoning_delta", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "background_event", "context_compacted", "entered_review_mode",
    "error", "exec_approval_request", "exec_command_begin", "exec_command_end",
    "exec_command_output_delta", "exited_review_mode", "get_history_entry_response",
    "item_completed", "item_started", "mcp_startup_complete", "mcp_tool_call_begin",
    "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end", "plan_update",
    "session_configured", "stream_error", "task_complete", "task_started",
    "thread_name_updated", "thread_settings_applied", "turn_aborted", "turn_complete", "turn_diff",
    "turn_started", "undo_completed", "undo_started", "view_image_tool_call", "warning",
    "web_search_begin", "web_search_end",
)  # fmt: skip
_SAID: Final = {  # by kinds of messages: whose words, in which field
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
}
_SILENT_ITEMS: Final = ("compaction", "ghost_snapshot", "item_reference", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptTurn:
    """A message of a person or an agent."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEvent:
    """What an agent did."""

    kind: str
    name: str = ""
    call: str = ""
    text: str = ""
    is_error: bool = False
    tokens: int = 0
    arguments: Mapping[str, object] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class ParserState:
    """What a parser remembers of the lines before."""

    root: str = ""  # folder in which the work was done
    step: int = 0
    message: str = ""  # the answer of the model that is a step
    tokens: int = 0
    agent: str = ""
    said: Mapping[str, str] = field(default_factory=dict)  # by role: source and digest of the last
    own: tuple[str, ...] = ()  # calls of Cairn's tools


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlace:
    """Where work was done, as far as a line has it: folder, branch, commit.

    `root` is the folder of the repository, which git knows.
    """

    cwd: str = ""
    root: str = ""
    branch: str = ""
    commit: str = ""


class UnknownKind(Exception):
    """A line is of a kind that its parser does not know; the argument is the kind's name."""


Entry = TranscriptTurn | TranscriptEvent
Entries = Iterator[Entry]
Parser = Callable[[ParserState, Line], Entries]  # raises UnknownKind before it yields anything


def call_entries(
    state: ParserState,
    name: str,
    call: str,
    given: Mapping[str, object],
    files: tuple[str, ...] = (),
) -> Entries:
    """Yield the call of a tool; nothing of one without a name."""
    if not name:
        return
    if is_own(name=name):
        state.own = (*state.own, call)[-OWN_CALLS:]
    yield TranscriptEvent(kind="tool_call", name=name, call=call, arguments=given, files=files)


def result_event(state: ParserState, call: str, text: str, *, is_error: bool) -> TranscriptEvent:
    """Return what a tool returned; nothing of what Cairn's own tools said."""
    text = "" if call in state.own else without_private(text=text)
    return TranscriptEvent(kind="tool_result", call=call, text=text, is_error=is_error)


def arguments(*, given: object, root: str) -> Mapping[str, object]:
    """Return the arguments of a tool that signals need; texts of edits by their digest.

    Beside them stand the few lines that an edit adds to a setting, or that import something.
    Paths below the root begin there: files have one name in all sessions, and no folder of a
    person's home is sent.
    """
    if not isinstance(given, Mapping):
        return {}
    within = f"{root}/" if len(root) > 1 else ""
    made: dict[str, object] = {}
    for name, names in _NAMES.items():
        most = COMMAND_MOST if name == "command" else TARGET_MOST
        text = _words_of(_first(given, names)).replace(within, "")
        made[name] = masked(text=text, most=most).text
    for name, names in _DIGESTED.items():
        value = _first(given, names)
        made[name] = digest(text=value) if isinstance(value, str) and value.strip() else ""
    made["added"] = masked(text=_added(str(made["path"]), given), most=TARGET_MOST).text
    made["line"] = count_of({"line": _first(given, _LINES)}, "line")
    return {name: value for name, value in made.items() if value}


def _added(path: str, given: Mapping[str, object]) -> str:
    """Return the lines that an edit adds to a setting, or the imports; empty for more of them."""
    before, after = (_first(given, names) for names in _DIGESTED.values())
    if not isinstance(before, str) or not isinstance(after, str):
        return ""
    known = {line.strip() for line in before.splitlines()}
    lines = [line.strip() for line in after.splitlines() if line.strip() not in {"", *known}]
    is_few = len(lines) <= ADDED_LINES
    return "\n".join(lines) if is_few and _is_told(path, lines) else ""


def _is_told(path: str, lines: list[str]) -> bool:
    """Say whether added lines may be sent: settings and imports, but no file that holds secrets."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    is_setting = _SETTING.search(path) is not None or all(map(_IMPORTS.match, lines))
    return is_setting and code_files.SECRET.fullmatch(name) is None


def digest(*, text: str) -> str:
    """Return a digest of a text; spaces do not count."""
    words = " ".join(text.split())
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def masked(*, text: str, most: int) -> masking.Masked:
    """Take secrets out of a text, then cut it to a head and a tail of so many characters.

    A secret is recognized by what stands before it, so a text is scanned from its beginning; what
    lies behind the bound is dropped.
    """
    clean = text.replace("\x00", "").encode("utf-8", "replace").decode()
    found = masking.mask(text=clean[:SCANNED_MOST])
    kept = found.text if len(clean) <= SCANNED_MOST else found.text[:-MARGIN]
    if len(kept) > most:
        tail = most // 4
        kept = f"{kept[: most - tail - 1]}\n{kept[-tail:]}"
    return masking.Masked(text=kept, kinds=found.kinds)


def without_private(*, text: str) -> str:
    """Return a text without what its writer marked as private, and without reminders."""
    return _REMINDER.sub("", _PRIVATE.sub("", text)).strip()


def text_blocks(*, content: object) -> str:
    """Return the texts of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def is_own(*, name: str) -> bool:
    """Say whether a tool is one of Cairn's: its answers are known already."""
    plain = name.lower().replace(".", "__")
    is_named_by_program = plain.startswith(("mcp_cairn_", "mcp_plugin_cairn_cairn_"))
    return is_named_by_program or not OWN_SERVERS.isdisjoint(plain.split("__"))


def text_of(line: Line, name: str) -> str:
    """Return a text of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, str) else ""


def mapping_of(line: Line, name: str) -> Line:
    """Return an object inside of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, Mapping) else {}


def count_of(line: Line, name: str) -> int:
    """Return a number of an object that can be counted, 0 where there is none."""
    value = line.get(name)
    return value if type(value) is int and 0 <= value < 10**9 else 0


def json_object(raw: bytes) -> Line | None:
    """Return the JSON object of a line; None where it is none."""
    line = parsed_json(text=raw)
    return line if isinstance(line, dict) else None


def parsed_json(*, text: str | bytes) -> object:
    """Read JSON that a field or a line holds; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _words_of(value: object) -> str:
    """Return a text; some tools give the words of a command one by one."""
    words = value if isinstance(value, list) else [value]
    return " ".join(word for word in words if isinstance(word, str))


def _first(given: Line, names: tuple[str, ...]) -> object:
    return next((given[name] for name in names if given.get(name) is not None), None)


# Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, versions 1.0 to 2.1.
#
# A line has a `type`; those of `user` and `assistant` hold a message of blocks. One answer of the
# model is written over several lines of one message id: that is a step. Notes of the program to
# itself (summaries, snapshots of files, results of its own commands) are silent.


def read_claude_code(state: ParserState, line: Line) -> Entries:
    """Yield the turns and events of a line. Raises UnknownKind."""
    kind, message = text_of(line, "type"), mapping_of(line, "message")
    state.root = state.root or text_of(line, "cwd").rstrip("/")
    match line.get("isSidechain"):
        case True:  # a subagent's line, by its id
            state.agent = text_of(line, "agentId") or "sidechain"
        case False:
            state.agent = ""
    if kind == "assistant":
        yield from _begin_step(state, message)
        for block in _blocks(message):
            yield from _answer(state, block)
    elif kind == "user" and not _is_note(line):
        yield from _user(state, message)
    elif kind not in _SILENT_LINES:
        raise UnknownKind(kind)


def _is_note(line: Line) -> bool:
    """Say whether a line of the person is a note of the program, or a summary."""
    return line.get("isMeta") is True or line.get("isCompactSummary") is True


def place_of_claude_code(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; the commit is in none."""
    return WorkPlace(cwd=text_of(line, "cwd"), branch=text_of(line, "gitBranch"))


def session_of_claude_code(line: Line) -> str:
    """Return which session a line is of, empty where it does not say."""
    return text_of(line, "sessionId")


def _begin_step(state: ParserState, message: Line) -> Entries:
    """Begin a step with the first line of an answer, which completes the step before."""
    name, usage = text_of(message, "id"), mapping_of(message, "usage")
    tokens = sum(count_of(usage, part) for part in ("input_tokens", "output_tokens"))
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
        given = arguments(given=block.get("input"), root=state.root)
        yield from call_entries(state, text_of(block, "name"), text_of(block, "id"), given)


def _user(state: ParserState, message: Line) -> Entries:
    """Yield results of tools, then what a person said."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    for block in _blocks(message):
        if block.get("type") == "text":
            texts.append(text_of(block, "text"))
        if block.get("type") == "tool_result":
            text = text_blocks(content=block.get("content"))
            is_error = block.get("is_error") is True
            call = text_of(block, "tool_use_id")
            yield result_event(state, call, text, is_error=is_error)
    said = (text for text in texts if not _COMMAND.match(text) and OWN_QUESTION not in text)
    spoken = (without_private(text=text) for text in said)
    text = "\n".join(filter(None, spoken))
    if text:
        yield TranscriptTurn(role="user", text=text)
        yield TranscriptEvent(kind="prompt", text=text)


def _blocks(message: Line) -> Iterator[Line]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return (block for block in blocks if isinstance(block, dict))


# Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, versions 0.1 to 0.60.
#
# A line is `{timestamp, type, payload}`: `event_msg` is for people, `response_item` is what went to
# and came from the model. Many messages are in both, so the second of a pair is left out. Tools are
# read of items alone. The first versions wrote items without an envelope.


def read_codex(state: ParserState, line: Line) -> Entries:
    """Yield the turns and events of a line. Raises UnknownKind."""
    kind = text_of(line, "type")
    if kind == "session_meta":
        cwd = text_of(mapping_of(line, "payload"), "cwd")
        state.root = state.root or cwd.rstrip("/")
    is_begin = not kind and not _BEGINNINGS.isdisjoint(line)
    if kind in _SILENT_KINDS or is_begin:
        return
    payload = mapping_of(line, "payload") if kind in _ENVELOPES else line
    inner = text_of(payload, "type")
    reader = (_MESSAGES if kind == "event_msg" else _ITEMS).get(inner)
    if reader is None:
        raise UnknownKind(inner)
    yield from reader(state, payload)


def place_of_codex(line: Line) -> WorkPlace:
    """Return where the work is, as far as a line has it; in the first versions in a text."""
    payload = mapping_of(line, "payload") or line
    found = _FOLDER.match(text_blocks(content=payload.get("content")))
    git = mapping_of(payload, "git")
    return WorkPlace(
        cwd=text_of(payload, "cwd") or (found[1].strip() if found else ""),
        branch=text_of(git, "branch"),
        commit=text_of(git, "commit_hash"),
    )


def session_of_codex(line: Line) -> str:
    """Return which session a file is of, as its first line says; empty for another line."""
    meta = mapping_of(line, "payload") if line.get("type") == "session_meta" else line
    return text_of(meta, "id") if "timestamp" in meta and "type" not in meta else ""


def _read_text(state: ParserState, role: str, text: str, source: str) -> Entries:
    """Yield a text, unless the other source has just had the same."""
    is_given = _GIVEN.match(text) or OWN_QUESTION in text
    text = "" if is_given else without_private(text=text)
    if not text:
        return
    mark = digest(text=text)
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
    tokens = count_of(usage, "total_tokens")
    if tokens:
        state.step = max(state.step, 1) + 1
        yield TranscriptEvent(kind="step_complete", tokens=tokens)


def _read_said(state: ParserState, payload: Line) -> Entries:
    role, name = _SAID[text_of(payload, "type")]
    return _read_text(state, role, text_of(payload, name), "event")


def _read_message(state: ParserState, item: Line) -> Entries:
    is_thought = item.get("type") == "reasoning"
    role = "reasoning" if is_thought else text_of(item, "role")
    if is_thought or role in {"user", "assistant"}:
        text = text_blocks(content=item.get("summary" if is_thought else "content"))
        yield from _read_text(state, role, text, "item")


def _read_call(state: ParserState, item: Line) -> Entries:
    """Read a call; some tools are named by the type of its item alone."""
    kind, name = text_of(item, "type"), text_of(item, "name")
    if kind == "function_call":
        given = parsed_json(text=text_of(item, "arguments"))
    else:
        given = item.get("action")
        name = "web_search" if kind == "web_search_call" else name or "shell"
    call = text_of(item, "call_id") or text_of(item, "id")
    made = arguments(given=given, root=state.root)
    return call_entries(state, name, call, made)


def _read_custom_call(state: ParserState, item: Line) -> Entries:
    """Read a call whose input is a text: of a patch its files, and its sides."""
    text = text_of(item, "input")
    files = [path.strip() for path in _FILE.findall(text)]
    given: dict[str, object] = {"path": files[0]} if files else {}
    for sign, side in (("-", "before"), ("+", "after")) if files else ():
        lines = [line[1:] for line in text.splitlines() if line.startswith(sign)]
        given[side] = "\n".join(lines)
    call = text_of(item, "call_id") or text_of(item, "id")
    made = arguments(given=given, root=state.root)
    most = TARGET_MOST
    named = tuple(masked(text=path, most=most).text for path in files[:FILES_MOST])
    return call_entries(state, text_of(item, "name"), call, made, named)


def _read_output(state: ParserState, item: Line) -> Entries:
    """Read what a tool returned, and whether it failed; versions write it in three ways."""
    output = item.get("output")
    inner = parsed_json(text=output) if isinstance(output, str) else output
    if isinstance(inner, Mapping):
        text = text_blocks(content=inner.get("output", inner.get("content")))
        code = mapping_of(inner, "metadata").get("exit_code")
        is_error = inner.get("success") is False or (isinstance(code, int) and code != 0)
    else:
        text = text_blocks(content=output)
        exit_code = _EXIT.search(text[:400])
        is_error = exit_code is not None and exit_code[1] != "0"
    yield result_event(state, text_of(item, "call_id"), text, is_error=is_error)


_Reader = Callable[[ParserState, Line], Entries]
_MESSAGES: Final[Mapping[str, _Reader]] = {
    **dict.fromkeys(_SILENT_MESSAGES, lambda *_: iter(())),
    **dict.fromkeys(_SAID, _read_said),
    "token_count": _complete_step,
}
_ITEMS: Final[Mapping[str, _Reader]] = {
    **dict.fromkeys(_SILENT_ITEMS, lambda *_: iter(())),
    "message": _read_message,
    "reasoning": _read_message,
    "function_call": _read_call,
    "custom_tool_call": _read_custom_call,
    "local_shell_call": _read_call,
    "web_search_call": _read_call,
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "local_shell_call_output": _read_output,
}
