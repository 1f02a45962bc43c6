"""Commands of a person who reviews: what waits, and what of it is kept.

They take the credential that `cairn login --review` fetches. Its scope `review` decides as its
person does in the dashboard; the tokens of agents' programs never have it.
"""

from itertools import islice
from typing import Annotated

import typer

from ..errors import Misused
from ..terminal import Json, Project, Terminal, shortened

ID_SHOWN = -8  # the telling end of an id
LONGEST_LIST = 1_000  # what waits is looked through for a short id; default


def inbox(
    context: typer.Context,
    project: Project = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many.")] = 20,
) -> None:
    """List what waits for your review, the longest waiting first."""
    terminal: Terminal = context.obj
    with terminal.client(project=project) as client:
        for row in islice(client.waiting(page=min(limit, 100)), limit):
            memory = row["memory"] or {}
            text = shortened(text=str(memory.get("content", "")))
            line = f"{_short(memory)}  {memory.get('scope')}  {memory.get('type')}  {text}"
            terminal.show(row=row, line=line)


def keep(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(help="Ids of memories, as `cairn inbox` shows them.")],
    share: Annotated[
        bool, typer.Option("--share", help="Give it to the people of its project, too.")
    ] = False,
    project: Project = "",
) -> None:
    """Keep memories that wait for review, as you would in the dashboard."""
    terminal: Terminal = context.obj
    with terminal.client(project=project, in_person=True) as client:
        waiting = islice(client.waiting(), LONGEST_LIST)
        known = [row["memory"] for row in waiting if row.get("memory")]
        for named in ids:
            end = _bare(named)
            found = [one for one in known if _bare(str(one["id"])).endswith(end)]
            if len(end) < -ID_SHOWN or len(found) != 1:  # less may mean another by chance
                raise Misused(
                    detail=f"{named} is not one memory that waits for review.",
                    hint="Name it as the list shows it, or with its whole id.",
                    command="cairn inbox",
                )
            kept = client.keep(memory_id=str(found[0]["id"]), share=share)
            did = "kept and shared" if share else "kept"
            line = f"{_short(found[0])}  {did}: {shortened(text=str(found[0]['content']))}"
            terminal.show(row=kept, line=line)


def _short(memory: Json) -> str:
    return _bare(str(memory.get("id", "")))[ID_SHOWN:]


def _bare(id: str) -> str:
    return id.strip().replace("-", "").lower()
