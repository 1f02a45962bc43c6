"""Our tools as an MCP server of the official SDK, in both eras of the protocol.

The SDK speaks the protocol; arguments are checked by models like those of REST, and each call is
one function run in a thread, which enters the caller's organization itself. The caller was made by
the transport (`memory.mcp.app`) and travels in the request's scope.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as protocol
from asgiref.sync import sync_to_async
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from accounts import audit, free_texts
from accounts.audit import Origin
from accounts.authentication import entered
from accounts.caller import Caller, TokenScope, may
from accounts.errors import CairnError, Forbidden
from memory.mcp import checking, finding, keeping, prompts
from memory.mcp.declaration import BANNER, Call, Tool, schema_of
from memory.mcp.prompts import PROMPTS

SCOPE_KEY: Final = "cairn.caller"
PROJECT_KEY: Final = "cairn.project"
ORIGIN_KEY: Final = "cairn.origin"
INSTRUCTIONS: Final = (
    "Cairn is the shared memory of this team's coding agents. Search it before you start or "
    "decide; add what the next agent should know when you finish. " + BANNER
)
Context = ServerRequestContext[Any, Any]
TOOLS: Final[Mapping[str, Tool]] = {  # in the order in which they are offered
    tool.name: tool
    for tool in (
        finding.search,
        finding.context,
        finding.about_file,
        finding.get_entity_info,
        finding.find_similar,
        finding.get_timeline,
        keeping.add_memory,
        finding.get,
        finding.list_recent,
        finding.list_topics,
        checking.check_conflicts,
        checking.check_plan,
        checking.check_diff,
        keeping.extract_from_conversation,
        keeping.push_note,
        finding.search_history,
    )
}


def make_server() -> Server[Any]:
    """Return a server with the tools of this installation."""
    return Server(
        "cairn",
        version="1",
        title="Cairn",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
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


async def list_prompts(
    context: Context, params: protocol.PaginatedRequestParams | None
) -> protocol.ListPromptsResult:
    """Return the prompts, to whoever may read."""
    offered = PROMPTS.values() if may(caller=_caller(context), scope=TokenScope.READ) else ()
    return protocol.ListPromptsResult(prompts=list(offered))


async def get_prompt(
    context: Context, params: protocol.GetPromptRequestParams
) -> protocol.GetPromptResult:
    """Fill in one prompt; what is refused is an error of the protocol."""
    scope = _scope(context)
    asked = (params.name, params.arguments or {}, _caller(context), scope[PROJECT_KEY])
    return await sync_to_async(_filled)(*asked, scope[ORIGIN_KEY])


def _filled(
    name: str, given: dict[str, str], caller: Caller, project: str | None, origin: Origin
) -> protocol.GetPromptResult:
    try:
        prompt = prompts.find_prompt(name=name, given=given)
        _check_scope(TokenScope.READ, caller)
        with entered(caller), audit.coming_from(origin=origin):
            text = prompts.fill_in(
                prompt=prompt, caller=caller, given=given, project=project, now=datetime.now(UTC)
            )
    except CairnError as error:
        said = free_texts.masked(text=f"{error.detail} {error.hint}".strip())
        raise MCPError(code=protocol.INVALID_PARAMS, message=said) from error
    content = protocol.TextContent(type="text", text=text)
    return protocol.GetPromptResult(
        description=prompt.description,
        messages=[protocol.PromptMessage(role="user", content=content)],
    )


def _answer(
    tool: Tool, given: dict[str, Any], caller: Caller, project: str | None, origin: Origin
) -> protocol.CallToolResult:
    try:
        _check_scope(tool.scope, caller)
        arguments = tool.check(given=given, project=project)
        call = Call(caller=caller, now=datetime.now(UTC))
        with entered(caller), audit.coming_from(origin=origin):
            answer = tool.respond(call=call, arguments=arguments)
    except CairnError as error:
        return _failed(error.detail, error.hint)
    return protocol.CallToolResult(
        content=[protocol.TextContent(type="text", text=answer.model_dump_json())],
        structured_content=answer.model_dump(mode="json"),
    )


def _check_scope(scope: TokenScope, caller: Caller) -> None:
    if not may(caller=caller, scope=scope):
        raise Forbidden(
            detail=f"This credential has no {scope} scope.",
            hint=f"Create a token with the {scope} scope.",
        )


def _caller(context: Context) -> Caller:
    """Return who asks; an agent's program decides for nobody, whatever token it was given."""
    caller: Caller = _scope(context)[SCOPE_KEY]
    return replace(caller, scopes=caller.scopes - {TokenScope.REVIEW})


def _scope(context: Context) -> Mapping[str, Any]:
    scope: Mapping[str, Any] = getattr(context.request, "scope", {})
    return scope


def _described(tool: Tool) -> protocol.Tool:
    is_reading = tool.scope == TokenScope.READ
    return protocol.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(model=tool.arguments),
        output_schema=schema_of(model=tool.answer),
        annotations=protocol.ToolAnnotations(
            title=tool.title,
            read_only_hint=is_reading,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


def _failed(detail: str, hint: str) -> protocol.CallToolResult:
    text = free_texts.masked(text=f"{detail} {hint}".strip())
    return protocol.CallToolResult(
        content=[protocol.TextContent(type="text", text=text)], is_error=True
    )
