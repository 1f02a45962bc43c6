"""Agents' programs as data: which field of a payload holds what, and which event means what.

A new program is a row of this table and its fixtures, not a release of anything that runs beside an
agent. Fields are named by paths with dots, tried in their order; a single dot is the whole payload.
Names of events are compared without case and underscores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

HOOK_SCRIPT_VERSION: Final = 3  # of `deploy/plugin/bin/hook.sh`; raised with every change of it


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One program. `answered_at` are the events whose answer it hands on to its model.

    `tools` names the tool of events that do not name it; `batch` is the field with a list of calls,
    each with the fields of a single one; `outcome` tells whether a call failed; `agent` names the
    subagent that did it; `took` is how many milliseconds a call took. Defaults are the names that
    most programs use.
    """

    harness: Harness
    form: Form
    meanings: Mapping[str, Meaning]
    answered_at: frozenset[str]
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
    tools: Mapping[str, str] = field(default_factory=dict)


def _meanings(**events: str) -> Mapping[str, Meaning]:
    """Return what each event means; `events` are the names of those of one meaning."""
    return {event: Meaning(meaning) for meaning, names in events.items() for event in names.split()}


_CLAUDE: Final = Adapter(
    harness=Harness.CLAUDE_CODE,
    form=Form.HOOK_SPECIFIC,
    agent=("agent_id",),
    call=("tool_use_id",),
    batch="tool_calls",
    meanings=_meanings(
        opened="sessionstart",
        prompted="userpromptsubmit",
        called="pretooluse",
        answered="posttooluse posttoolusefailure posttoolbatch",
        replied="stop subagentstop",
        ended="sessionend",
    ),
    answered_at=frozenset({
        "sessionstart", "userpromptsubmit", "pretooluse", "posttooluse", "posttoolusefailure",
        "posttoolbatch",
    }),
)  # fmt: skip
_CURSOR: Final = Adapter(
    harness=Harness.CURSOR,
    form=Form.ADDITIONAL_SNAKE,
    session=("conversation_id", "session_id"),
    folder=("cwd", "workspace_roots.0"),
    arguments=("tool_input", "."),
    call=("tool_use_id",),
    took=("duration",),
    result=("tool_output", "result_json", "output"),
    error=("error_message",),
    message=("text",),
    meanings=_meanings(
        opened="sessionstart",
        prompted="beforesubmitprompt",
        called="pretooluse",
        answered="posttooluse posttoolusefailure afterfileedit aftershellexecution"
        " aftermcpexecution",
        replied="afteragentresponse",
        ended="sessionend",
    ),
    answered_at=frozenset({"posttooluse"}),  # an answer at its start does not reach its model
    tools={"afterfileedit": "edit_file", "aftershellexecution": "run_terminal_cmd"},
)
_CODEX: Final = replace(
    _CLAUDE,
    harness=Harness.CODEX,
    batch="",
    meanings=_meanings(
        opened="sessionstart",
        prompted="userpromptsubmit",
        called="pretooluse",
        answered="posttooluse",
        replied="stop",
        ended="sessionend",
    ),
    answered_at=frozenset({"sessionstart", "userpromptsubmit", "posttooluse"}),
)
_COPILOT: Final = Adapter(
    harness=Harness.COPILOT,
    form=Form.ADDITIONAL_CAMEL,
    session=("sessionId", "session_id"),
    event=("hookEventName", "hook_event_name"),
    tool=("toolName", "tool_name"),
    arguments=("toolArgs", "tool_input"),
    result=("toolResult.textResultForLlm", "tool_result.text_result_for_llm"),
    error=("error.message", "error"),
    outcome=("toolResult.resultType", "tool_result.result_type"),
    prompt=("prompt", "initialPrompt", "initial_prompt"),
    message=("lastAssistantMessage",),
    meanings=_meanings(
        opened="sessionstart",
        prompted="userpromptsubmitted userpromptsubmit",
        called="pretooluse",
        answered="posttooluse posttoolusefailure",
        replied="agentstop stop",
        ended="sessionend",
    ),
    answered_at=frozenset({"sessionstart", "posttooluse"}),
)
_CLINE: Final = Adapter(
    harness=Harness.CLINE,
    form=Form.MODIFICATION,
    session=("taskId",),
    event=("hookName",),
    folder=("workspaceRoots.0",),
    tool=("preToolUse.toolName", "postToolUse.toolName"),
    arguments=("preToolUse.parameters", "postToolUse.parameters"),
    took=("postToolUse.executionTimeMs",),
    result=("postToolUse.result",),
    error=("postToolUse.error",),
    outcome=("postToolUse.success",),
    prompt=("userPromptSubmit.prompt", "taskStart.taskMetadata.initialTask"),
    message=("taskComplete.taskMetadata.result",),
    meanings=_meanings(
        opened="taskstart taskresume",
        prompted="userpromptsubmit",
        called="pretooluse",
        answered="posttooluse",
        ended="taskcomplete taskcancel",
    ),
    answered_at=frozenset({
        "taskstart", "taskresume", "userpromptsubmit", "pretooluse", "posttooluse",
    }),
)  # fmt: skip
_GENERIC: Final = Adapter(
    harness=Harness.GENERIC,
    form=Form.CONTEXT,
    session=("session",),
    event=("event",),
    tool=("tool",),
    arguments=("arguments",),
    call=("call",),
    result=("result",),
    message=("message",),
    project=("project",),
    batch="calls",
    meanings=_meanings(
        opened="start",
        prompted="prompt",
        called="call",
        answered="result",
        replied="message",
        ended="end",
    ),
    answered_at=frozenset({"start", "prompt", "call", "result"}),
)
ADAPTERS: Final[Mapping[Harness, Adapter]] = {
    one.harness: one for one in (_CLAUDE, _CURSOR, _CODEX, _COPILOT, _CLINE, _GENERIC)
}
