"""Agents' programs: their payloads as data, read, kept as rows of events, and answered.

Which field of a payload holds what, and which event means what, is a table (`ADAPTERS`, in
`tables/harnesses.toml`): a new program is an entry of it and its fixtures, not a release of
anything that runs beside an agent. Names of events are compared without case and underscores.

Reading is lenient throughout: what is missing is empty, what has another form than expected counts
as missing, and an unknown event means nothing. Nothing is raised, whatever a program sends. Of what
a tool returned only the first lines are stored: signals need an error or names of files. A line
that does not fit is left out, so that no text is cut within a word.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Final

import orjson
from pydantic import ConfigDict, TypeAdapter

from memory.client.transcripts.parsers import OWN_QUESTION
from memory.sessions import event_parsing, file_paths, tools
from memory.sessions.events import Event
from memory.text.text import read_tables

HOOK_SCRIPT_VERSION: Final = 5  # of `deploy/plugin/bin/hook.sh`; raised with every change of it


class Harness(StrEnum):
    """The programs that are known by name; any other speaks the generic one."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    CODEX = "codex"
    COPILOT = "copilot"
    CLINE = "cline"
    GENERIC = "generic"


class Meaning(StrEnum):
    """What an event of a program means."""

    OPENED = "opened"
    PROMPTED = "prompted"
    CALLED = "called"
    ANSWERED = "answered"
    REPLIED = "replied"
    ENDED = "ended"
    OTHER = "other"


class Form(StrEnum):
    """The shape of an answer that carries context; most are one field, by its name."""

    HOOK_SPECIFIC = "hookSpecificOutput"
    ADDITIONAL_SNAKE = "additional_context"
    ADDITIONAL_CAMEL = "additionalContext"
    MODIFICATION = "contextModification"
    CONTEXT = "context"


class QuestionForm(StrEnum):
    """How a program is told that its agent is asked something before it stops."""

    DECISION = "decision"  # `block`, with the question as its reason
    FOLLOW_UP = "followup_message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One program. `unanswered` are events whose answer it does not hand on to its model.

    `tools` names the tool of events that do not name it; `batch` is the field with a list of calls,
    each with the fields of a single one; `outcome` tells whether a call failed; `agent` names the
    subagent that did it; `took` is how many milliseconds a call took. `asked_at` are events at
    which an agent that stops can be asked something; not where one of the fields `continued` says
    that it goes on already, or `status` that a person stopped it. Defaults are the names that most
    programs use.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")  # a misspelled field is an error
    harness: Harness
    form: Form
    meanings: Mapping[str, Meaning]
    unanswered: frozenset[str] = frozenset()
    session: tuple[str, ...] = ("session_id",)
    event: tuple[str, ...] = ("hook_event_name",)
    folder: tuple[str, ...] = ("cwd",)
    tool: tuple[str, ...] = ("tool_name",)
    arguments: tuple[str, ...] = ("tool_input",)
    result: tuple[str, ...] = ("tool_response",)
    error: tuple[str, ...] = ("error",)
    prompt: tuple[str, ...] = ("prompt",)
    message: tuple[str, ...] = ("last_assistant_message",)
    call: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    took: tuple[str, ...] = ("duration_ms",)
    outcome: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    batch: str = ""
    asked_at: frozenset[str] = frozenset()
    question: QuestionForm = QuestionForm.DECISION
    continued: tuple[str, ...] = ("stop_hook_active", "loop_count")
    status: tuple[str, ...] = ("status",)
    tools: Mapping[str, str] = field(default_factory=dict)

    def hands_on(self, event: str) -> bool:
        """Say whether the answer to an event comes before the model."""
        is_quiet = self.meanings.get(event) in {None, Meaning.REPLIED, Meaning.ENDED}
        return not is_quiet and event not in self.unanswered


_PROGRAMS: Final = read_tables(file=Path(__file__).with_name("tables") / "harnesses.toml")
ADAPTERS: Final[Mapping[Harness, Adapter]] = {
    one.harness: one
    for one in TypeAdapter(tuple[Adapter, ...]).validate_python(_PROGRAMS["programs"])
}

SESSION_MOST: Final = 150  # characters of a session's id; default
PROJECT_MOST: Final = 64  # characters, a slug's
FOLDER_MOST: Final = 400  # characters; default
FILES_MOST: Final = 12  # of one payload; default
CALLS_MOST: Final = 64  # of one batch; default
RESULT_MOST: Final = 4_000  # characters of what a tool returned; default, not measured
NESTED_MOST: Final = 4  # levels of a result in which a text is looked for; default
SELF: Final = "."
COMPACTED: Final = "compact"  # why a session starts, where its context was cut down
FAILED: Final = ("failure", "error", "denied")
STOPPED: Final = ("aborted", "error")  # an agent that nobody lets answer
_TOUCHING: Final = frozenset({tools.Act.READ, tools.Act.EDIT})
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_RESULT_FIELDS: Final = (
    "stdout", "stderr", "filenames", "text", "content", "file", "output", "error", "result",
)  # fmt: skip
_OF_AN_EDIT: Final = "structuredPatch"  # beside the whole file before and behind it
_PATH_NAMES: Final = (
    "file_path", "path", "filePath", "notebook_path", "target_file", "target_notebook",
)  # fmt: skip

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call, or its result; `patched` are files as a patch names them."""

    tool: str
    arguments: Mapping[str, object]
    id: str
    result: str
    is_error: bool
    took_ms: float | None = None
    patched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """An event as a payload describes it.

    `is_answerable`: the program hands the answer on to its model. `files` are those that were read
    or edited, as paths within `folder` where they lie there; `project` is the one that the payload
    names, if any; `agent` a subagent, with a context of its own; `waits` says whether the program
    waits for the answer, `is_compacted` that the context of its model was just compacted, and
    `can_be_asked` that the main agent stops and can be asked something before.
    """

    harness: str
    session: str
    folder: str
    event: str
    meaning: Meaning
    is_answerable: bool
    project: str = ""
    agent: str = ""
    prompt: str = ""
    message: str = ""
    calls: tuple[ToolCall, ...] = ()
    files: tuple[str, ...] = ()
    waits: bool = True
    is_compacted: bool = False
    can_be_asked: bool = False


def read_payload(*, adapter: Adapter, payload: Mapping[str, object], event: str = "") -> HookEvent:
    """Read a payload; `event` stands in where the payload does not name one."""
    name = _text(_value_at(payload, adapter.event)) or event
    plain = name.replace("_", "").replace("-", "").strip().lower()
    meaning = adapter.meanings.get(plain, Meaning.OTHER)
    folder = _text(_value_at(payload, adapter.folder))[:FOLDER_MOST]
    is_about_tools = meaning in {Meaning.CALLED, Meaning.ANSWERED}
    calls = tuple(_calls(adapter, payload, plain)) if is_about_tools else ()
    named = (path for call in calls for path in _touched(call, folder))
    within = (path for path in named if path and not path.startswith(("../", "~")))
    return HookEvent(
        harness=adapter.harness.value,
        session=_text(_value_at(payload, adapter.session)).strip()[:SESSION_MOST],
        folder=folder,
        event=name,
        meaning=meaning,
        is_answerable=adapter.hands_on(plain),
        project=_text(_value_at(payload, adapter.project)).strip()[:PROJECT_MOST],
        agent=_text(_value_at(payload, adapter.agent)).strip()[:SESSION_MOST],
        prompt=_prompt(adapter, payload),
        message=_text(_value_at(payload, adapter.message)) if meaning is Meaning.REPLIED else "",
        calls=calls,
        files=tuple(dict.fromkeys(within))[:FILES_MOST],
        is_compacted=meaning is Meaning.OPENED and payload.get("source") == COMPACTED,
        can_be_asked=_can_be_asked(adapter, payload, plain),
    )


def _prompt(adapter: Adapter, payload: Mapping[str, object]) -> str:
    """Return what a person said; a question of ours that a program hands on is not theirs."""
    text = _text(_value_at(payload, adapter.prompt))
    return "" if OWN_QUESTION in text else text


def _can_be_asked(adapter: Adapter, payload: Mapping[str, object], event: str) -> bool:
    """Say whether it is the main agent that stops, by itself, and may be asked before."""
    goes_on = any(payload.get(name) for name in adapter.continued)
    is_stopped = _value_at(payload, adapter.status) in STOPPED
    is_main = not _text(_value_at(payload, adapter.agent)).strip()
    return event in adapter.asked_at and is_main and not (goes_on or is_stopped)


def event_rows(*, event: HookEvent) -> tuple[Row, ...]:
    """Return an event as rows for the observer, numbered from 1; a call comes with its result."""
    said = {
        Meaning.PROMPTED: ("prompt", event.prompt),
        Meaning.REPLIED: ("reasoning", event.message),
    }
    kind, text = said.get(event.meaning, ("", ""))
    rows: list[Row] = [{"kind": kind, "text": text}] if text.strip() else []
    for call in event.calls if event.meaning is Meaning.ANSWERED else ():
        same: Row = {"name": call.tool, "call": call.id}
        files: Row = {"files": list(call.patched)} if call.patched else {}
        took: Row = {} if call.took_ms is None else {"duration_ms": call.took_ms}
        lines: list[str] = []
        room = RESULT_MOST
        for line in call.result.splitlines():
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        args = event_parsing.known_arguments(given=call.arguments)
        rows += (
            {"kind": "tool_call", **same, **files, "args": args},
            {
                "kind": "tool_result",
                **same,
                **took,
                "text": "\n".join(lines),
                "is_error": call.is_error,
            },
        )
    agent: Row = {"agent": event.agent} if event.agent else {}
    return tuple({"sequence": place, **agent, **row} for place, row in enumerate(rows, start=1))


def answer(*, adapter: Adapter, event: str, text: str) -> Mapping[str, object]:
    """Return what a program is answered at an event, as it names it itself; empty for no text."""
    form = adapter.form
    silent: Mapping[str, object] = {"cancel": False} if form is Form.MODIFICATION else {}
    if not text:
        return silent
    if form is Form.HOOK_SPECIFIC:
        return {form.value: {"hookEventName": event, "additionalContext": text}}
    return {**silent, form.value: text}


def question(*, adapter: Adapter, text: str) -> Mapping[str, object]:
    """Return what a program is answered so that its agent is asked something before it stops."""
    if adapter.question is QuestionForm.FOLLOW_UP:
        return {adapter.question.value: text}
    return {adapter.question.value: "block", "reason": text}


def _calls(adapter: Adapter, payload: Mapping[str, object], event: str) -> Iterator[ToolCall]:
    batch = payload.get(adapter.batch) if adapter.batch else None
    for row in batch[:CALLS_MOST] if isinstance(batch, list) else [payload]:
        if isinstance(row, Mapping):
            tool = _text(_value_at(row, adapter.tool)) or adapter.tools.get(event, "")
            if tool:
                yield _call(adapter, row, tool)


def _call(adapter: Adapter, row: Mapping[str, object], tool: str) -> ToolCall:
    error = _flattened(_value_at(row, adapter.error))
    outcome = _value_at(row, adapter.outcome)
    took = _value_at(row, adapter.took)
    arguments = _arguments(_value_at(row, adapter.arguments))
    texts = (value for value in arguments.values() if isinstance(value, str))
    patched = (path for text in texts for path in _PATCHED.findall(text)[:FILES_MOST])
    return ToolCall(
        tool=tool,
        arguments=arguments,
        took_ms=took if isinstance(took, int | float) and not isinstance(took, bool) else None,
        patched=tuple(map(str.strip, patched)),
        id=_text(_value_at(row, adapter.call)),
        result=error or _flattened(_value_at(row, adapter.result)),
        is_error=bool(error) or outcome is False or outcome in FAILED,
    )


def _arguments(value: object) -> Mapping[str, object]:
    """Return an object, also one that is written as text; a bare text is a command."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            value = {"command": value}
    return value if isinstance(value, Mapping) else {}


def _touched(call: ToolCall, folder: str) -> Iterator[str]:
    """Yield the files that a call reads or edits; a patch names them in its text."""
    arguments = dict(call.arguments)
    path = next((arguments[name] for name in _PATH_NAMES if arguments.get(name)), None)
    args = {**arguments, **({"path": path} if path else {})}
    row = {"sequence": 1, "kind": "tool_call", "name": call.tool, "args": args}
    event = event_parsing.read(row=row)
    if isinstance(event, Event):
        read = tools.read(event=event, root=folder)
        if read.act in _TOUCHING:
            yield read.target
    yield from (file_paths.relative(path=path, root=folder) for path in call.patched)


def _value_at(payload: Mapping[str, object], paths: tuple[str, ...]) -> object:
    """Return the value at the first path that leads to anything."""
    for path in paths:
        value: object = payload
        for part in () if path == SELF else path.split("."):
            if isinstance(value, Mapping):
                value = value.get(part)
            elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            else:
                value = None
        if value not in (None, ""):
            return value
    return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _flattened(value: object, depth: int = NESTED_MOST) -> str:
    """Return a text as it is, of an object or a list the texts in it.

    Of an edit nothing: it holds the file, which nobody needs.
    """
    parts: list[object] = []
    match value:
        case str():
            return value
        case dict() if _OF_AN_EDIT not in value:
            parts = [value[name] for name in _RESULT_FIELDS if name in value]
        case list():
            parts = value
    texts = (_flattened(one, depth - 1) for one in parts) if depth else ()
    return "\n".join(filter(None, texts))
