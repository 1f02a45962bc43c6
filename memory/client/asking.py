"""Commands that ask: search, recent, stats, who one is, what is there."""

from collections import Counter
from typing import Annotated, Final

import typer

from .errors import ClientError
from .terminal import Desk, shortened
from .values import Memory

MOST_COUNTED: Final = 20_000  # memories that `stats` reads, ours

Project = Annotated[str, typer.Option("--project", "-p", help="Slug of the project.")]


def register(*, app: typer.Typer) -> None:
    """Add the commands."""
    for command in (search, recent, stats, whoami, status):
        app.command()(command)


def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(help="The question.")],
    project: Project = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 10,
    types: Annotated[str, typer.Option(help="Only these types, separated by commas.")] = "",
) -> None:
    """Find what is known about something; nothing is said when nothing is relevant."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    narrowing = {"limit": limit, "types": _listed(types) or None}
    with desk.client(connection=connection) as client:
        found = client.search(query=" ".join(words), project=connection.project, **narrowing)
    for hit in found.hits:
        line = f"{hit.relevance:.2f}  {_line(hit.memory)}"
        desk.show(row=hit.told, line=line)
    if found.degraded:
        desk.note(f"degraded: {', '.join(found.degraded)}")
    if not found.hits:
        desk.note("Nothing relevant is known.")


def recent(
    context: typer.Context,
    project: Project = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 20,
    query: Annotated[str, typer.Option("--query", help="Filters of the query box.")] = "",
) -> None:
    """List memories, the newest first."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    with desk.client(connection=connection) as client:
        found = client.memories(project=connection.project, query=query, page=min(limit, 100))
        for memory, _ in zip(found, range(limit), strict=False):
            desk.show(row=memory.told, line=f"{memory.created_at[:10]}  {_line(memory)}")


def stats(context: typer.Context, project: Project = "") -> None:
    """Count memories by type."""
    desk: Desk = context.obj
    connection = desk.connection(project=project)
    with desk.client(connection=connection) as client:
        found = client.memories(project=connection.project, page=200)
        read = zip(found, range(MOST_COUNTED + 1), strict=False)
        counts = Counter(memory.type for memory, _ in read)
    if counts.total() > MOST_COUNTED:
        raise ClientError(
            detail=f"There are more than {MOST_COUNTED:,} memories.",
            hint="Count those of one project.",
            command="cairn stats --project SLUG",
        )
    if desk.is_json:
        row = {"project": connection.project, "memories": counts.total(), "types": dict(counts)}
        desk.show(row=row, line="")
        return
    ordered = counts.most_common()
    rows = [(kind, str(count)) for kind, count in (*ordered, ("all", counts.total()))]
    desk.table(head=("type", "memories"), rows=rows)


def whoami(context: typer.Context) -> None:
    """Say who the server takes you for."""
    desk: Desk = context.obj
    connection = desk.connection()
    with desk.client(connection=connection) as client:
        me = client.me()
    line = f"{me.agent} · {me.role} of {me.organization} · {', '.join(me.scopes)}"
    desk.show(row=me.told, line=f"{line} · {connection.url}")


def status(context: typer.Context) -> None:
    """Say where you are logged in, and which projects you see there."""
    desk: Desk = context.obj
    connection = desk.connection()
    with desk.client(connection=connection) as client:
        me, projects = client.me(), client.projects()
    desk.note(f"{connection.url} · {me.organization} · {me.role} · {', '.join(me.scopes)}")
    for project in projects:
        slug = str(project.get("slug"))
        mark = "*" if slug == connection.project else " "
        desk.show(row=project, line=f"{mark} {slug}  {project.get('name')}")


def _line(memory: Memory) -> str:
    return f"{memory.type}  {shortened(text=memory.content)}"


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]
