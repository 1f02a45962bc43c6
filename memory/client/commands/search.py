"""Commands that read: search, recent, stats, whoami, status, mcp; and pause and resume."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..errors import ClientError
from ..terminal import Project, Terminal, listed, shortened
from ..values import Memory

if TYPE_CHECKING:
    from ..api import Client

COUNTED_MOST: Final = 20_000  # memories that `stats` reads; default, not measured
PARSE_ERROR: Final = -32_700  # JSON-RPC 2.0
SERVER_ERROR: Final = -32_000  # JSON-RPC 2.0: free for servers
Everybody = Annotated[
    bool, typer.Option("--everybody", help="All agents of the project, not yours alone.")
]


def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(help="The question.")],
    project: Project = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 10,
    types: Annotated[str, typer.Option(help="Only these types, separated by commas.")] = "",
) -> None:
    """Find what is known about something; nothing is said when nothing is relevant."""
    terminal: Terminal = context.obj
    narrowing: dict[str, Any] = {"limit": limit, "types": listed(text=types) or None}
    with terminal.client(project=project) as client:
        found = client.search(query=" ".join(words), **narrowing)
    for hit in found.hits:
        terminal.show(row=hit.raw, line=f"{hit.relevance:.2f}  {_line(hit.memory)}")
    if found.degraded:
        terminal.note(f"degraded: {', '.join(found.degraded)}")
    if not found.hits:
        terminal.note("Nothing relevant is known.")


def recent(
    context: typer.Context,
    project: Project = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 20,
    query: Annotated[str, typer.Option("--query", help="Filters of the query box.")] = "",
) -> None:
    """List memories, the newest first."""
    terminal: Terminal = context.obj
    with terminal.client(project=project) as client:
        found = client.memories(query=query, page=min(limit, 100))
        for memory, _ in zip(found, range(limit), strict=False):
            terminal.show(row=memory.raw, line=f"{memory.created_at[:10]}  {_line(memory)}")


def stats(context: typer.Context, project: Project = "") -> None:
    """Count memories by type."""
    terminal: Terminal = context.obj
    with terminal.client(project=project) as client:
        found = client.memories(page=200)
        read = zip(found, range(COUNTED_MOST + 1), strict=False)
        counts = Counter(memory.type for memory, _ in read)
    if counts.total() > COUNTED_MOST:
        raise ClientError(
            detail=f"There are more than {COUNTED_MOST:,} memories.",
            hint="Count those of one project.",
            command="cairn stats --project SLUG",
        )
    if terminal.is_json:
        row = {"project": client.project, "memories": counts.total(), "types": dict(counts)}
        terminal.show(row=row, line="")
        return
    ordered = (*counts.most_common(), ("all", counts.total()))
    rows = [(kind, str(count)) for kind, count in ordered]
    terminal.table(head=("type", "memories"), rows=rows)


def whoami(context: typer.Context) -> None:
    """Say who the server takes you for."""
    terminal: Terminal = context.obj
    with terminal.client() as client:
        me = client.me()
    line = f"{me.agent} · {me.role} of {me.organization} · {', '.join(me.scopes)}"
    terminal.show(row=me.raw, line=f"{line} · {client.url}")


def status(context: typer.Context) -> None:
    """Say where you are logged in, and which projects you see there."""
    terminal: Terminal = context.obj
    with terminal.client() as client:
        me, projects = client.me(), client.projects()
    terminal.note(f"{client.url} · {me.organization} · {me.role} · {', '.join(me.scopes)}")
    for project in projects:
        slug = str(project.get("slug"))
        mark = "*" if slug == client.project else " "
        terminal.show(row=project, line=f"{mark} {slug}  {project.get('name')}")


def pause(context: typer.Context, project: Project = "", everybody: Everybody = False) -> None:
    """Give your agents nothing, whatever token they use, until you resume. They are still heard."""
    _set_pause(context.obj, project, is_all=everybody, paused=True)


def resume(context: typer.Context, project: Project = "", everybody: Everybody = False) -> None:
    """Give agents what helps them again."""
    _set_pause(context.obj, project, is_all=everybody, paused=False)


def mcp(context: typer.Context) -> None:
    """Speak MCP over stdin and stdout, for agents that know no HTTP."""
    terminal: Terminal = context.obj
    stdin = typer.get_text_stream("stdin", encoding="utf-8")
    with terminal.client() as client:
        for line in stdin:
            answer = _carry(client, line) if line.strip() else None
            if answer:
                terminal.out.write(json.dumps(answer) + "\n")
                terminal.out.flush()


def _carry(client: "Client", line: str) -> Mapping[str, Any] | None:
    """Carry a message to the server's `/mcp` and return its answer; None where it has no id.

    What fails on the way becomes an error of JSON-RPC, so that the program goes on.
    """
    try:
        message = json.loads(line)
        fault = "" if isinstance(message, dict) else "The line is no object."
    except ValueError as error:
        fault = f"The line is no JSON: {error}"
    number, code = None, PARSE_ERROR
    if not fault:
        number, code = message.get("id"), SERVER_ERROR
        try:
            return client.speak_mcp(message=message)
        except ClientError as error:
            if number is None:
                return None
            fault = error.detail
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": fault}}


def _set_pause(terminal: Terminal, project: str, *, is_all: bool, paused: bool) -> None:
    """Pause all agents of a project, the person's, or those of a token that is nobody's."""
    with terminal.client(project=project, subject="A pause belongs") as client:
        whose: dict[str, Any] = {}
        if not is_all:
            me = client.me().raw
            is_person = bool(me.get("user_id"))
            whose = {"mine": True} if is_person else {"token_id": str(me.get("token_id") or "")}
        state = client.pause(project=client.project, paused=paused, **whose)
    agents = "all agents" if state.get("paused") else "your agents"
    is_paused = state.get("paused") or state.get("this_token_paused")
    line = f"paused for {agents}" if is_paused else "not paused"
    terminal.show(row=state, line=f"{client.project}: {line}")


def _line(memory: Memory) -> str:
    return f"{memory.type}  {shortened(text=memory.content)}"
