"""Our tools as an MCP server of the official SDK, in both eras of the protocol (spec 8.2).

The SDK speaks the protocol; arguments are checked by our own shapes, and each call is one function
run in a thread, which enters the caller's organization itself. The caller was made by the transport
(`memory.mcp.app`) and travels in the request's scope.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as protocol
import orjson
from asgiref.sync import sync_to_async
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from accounts import audit
from accounts.audit import Origin
from accounts.authentication import entered
from accounts.backend import free_texts
from accounts.caller import Caller, TokenScope, may
from accounts.errors import CairnError, Forbidden
from memory.mcp import tools
from memory.mcp.tools import BANNER, TOOLS, Call, Tool

SCOPE_KEY: Final = "cairn.caller"
PROJECT_KEY: Final = "cairn.project"
ORIGIN_KEY: Final = "cairn.origin"
INSTRUCTIONS: Final = (
    "Cairn is the shared memory of this team's coding agents. Search it before you start or "
    "decide; add what the next agent should know when you finish. " + BANNER
)
Context = ServerRequestContext[Any, Any]


def make_server() -> Server[Any]:
    """Return a server with the tools of this installation."""
    return Server(
        "cairn",
        version="1",
        title="Cairn",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def list_tools(
    context: Context, params: protocol.PaginatedRequestParams | None
) -> protocol.ListToolsResult:
    """Return the tools that the caller's credential covers, in a fixed order."""
    caller = _caller(context)
    offered = [_described(tool) for tool in TOOLS.values() if may(caller=caller, scope=tool.scope)]
    return protocol.ListToolsResult(tools=offered)


async def call_tool(
    context: Context, params: protocol.CallToolRequestParams
) -> protocol.CallToolResult:
    """Run one tool; what it refuses is an answer the model can read."""
    tool = TOOLS.get(params.name)
    if tool is None:
        return _failed(f"There is no tool {params.name[:80]!r}.", f"There are: {', '.join(TOOLS)}.")
    scope = _scope(context)
    call = (tool, params.arguments or {}, _caller(context), scope[PROJECT_KEY])
    return await sync_to_async(_answer)(*call, scope[ORIGIN_KEY])


def _answer(
    tool: Tool, given: dict[str, Any], caller: Caller, project: str | None, origin: Origin
) -> protocol.CallToolResult:
    try:
        _check_scope(tool, caller)
        checked = tools.arguments(tool=tool, given=given)
        call = Call(caller=caller, arguments=checked, project=project, now=datetime.now(UTC))
        with entered(caller), audit.coming_from(origin=origin):
            found = tool.run(call)
    except CairnError as error:
        return _failed(error.detail, error.hint)
    written = orjson.dumps(found, option=orjson.OPT_UTC_Z)
    return protocol.CallToolResult(
        content=[protocol.TextContent(type="text", text=written.decode())],
        structured_content=orjson.loads(written),
    )


def _check_scope(tool: Tool, caller: Caller) -> None:
    if not may(caller=caller, scope=tool.scope):
        raise Forbidden(
            detail=f"This credential has no {tool.scope} scope.",
            hint=f"Create a token with the {tool.scope} scope.",
        )


def _caller(context: Context) -> Caller:
    caller: Caller = _scope(context)[SCOPE_KEY]
    return caller


def _scope(context: Context) -> Mapping[str, Any]:
    scope: Mapping[str, Any] = getattr(context.request, "scope", {})
    return scope


def _described(tool: Tool) -> protocol.Tool:
    is_reading = tool.scope == TokenScope.READ
    return protocol.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.says,
        input_schema=tool.takes.schema(),
        output_schema=dict(tool.gives),
        annotations=protocol.ToolAnnotations(
            title=tool.title,
            read_only_hint=is_reading,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


def _failed(detail: str, hint: str) -> protocol.CallToolResult:
    text = free_texts.shown(text=f"{detail} {hint}".strip())
    return protocol.CallToolResult(
        content=[protocol.TextContent(type="text", text=text)], is_error=True
    )
