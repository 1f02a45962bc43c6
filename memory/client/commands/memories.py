"""Commands about memories: add, import, export, search, recent, stats, check, mcp, and who one is.

`check` is made for people, for hooks of git and for CI: what stops has an exit code of its own;
what calls for caution, or was not looked at whole, fails only with `--strict`. An empty text has
nothing to check, and no server is asked.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..errors import STOPPED, ClientError, Incomplete, Misused
from ..terminal import Json, Project, Terminal, listed, progress, read_file, shortened

if TYPE_CHECKING:
    from ..api import Client, Memory

BULK: Final = 500  # memories a call; the server takes 1,000
FILE_MOST: Final = 64 * 1024 * 1024  # bytes of a file; default, not measured
POLL_SECONDS: Final = 0.5
REFUSED: Final = frozenset({"refused", "error"})
_RUNNING: Final = frozenset({"queued", "running"})
_FORMATS: Final = ("json", "ndjson", "markdown", "csv", "claude")
_STDIN: Final = Path("-")
COUNTED_MOST: Final = 20_000  # memories that `stats` reads; default, not measured
PARSE_ERROR: Final = -32_700  # JSON-RPC 2.0
SERVER_ERROR: Final = -32_000  # JSON-RPC 2.0: free for servers
Everybody = Annotated[
    bool, typer.Option("--everybody", help="All agents of the project, not yours alone.")
]
BYTES_MOST: Final = 4 * 1024 * 1024  # that are read; the server takes a million characters
SHORT_ID: Final = 13  # characters of an id that people are shown
_UNSEEN: Final = frozenset(  # with one of these not all of the work was looked at
    {"paused", "steps_left_out", "not_all_parts", "not_all_searched", "not_all_files"}
)
_STOPPING: Final = {False: {"stop"}, True: {"stop", "caution"}}  # verdicts, by --strict
_REASONS: Final[Mapping[str, str]] = {
    "tried_before": "was tried and did not work",
    "tried_in_part": "was tried in part and did not work",
    "decided_against": "was decided against",
    "takes_away": "takes away what was decided",
    "other_value": "names another number",
    "left_behind": "changes without what goes with it",
    "of_the_file": "about this file",
    "relevant": "bears on this",
}
Plan = Annotated[Path | None, typer.Option("--plan", help="A file with a plan; - reads stdin.")]
Diff = Annotated[Path | None, typer.Option("--diff", help="A file with a diff; - reads stdin.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Caution fails as well, and what was not looked at whole.")
]


def add(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="The memory; - reads stdin.")] = None,
    project: Project = "",
    kind: Annotated[str, typer.Option("--type", help="Its type; told by its words else.")] = "",
    tags: Annotated[str, typer.Option(help="Tags, separated by commas.")] = "",
    files: Annotated[str, typer.Option(help="Files it is about, separated by commas.")] = "",
    lines: Annotated[bool, typer.Option("--lines", help="Each line of stdin is one.")] = False,
) -> None:
    """Hand in a memory, or one a line of stdin."""
    terminal: Terminal = context.obj
    fields = {"type": kind, "tags": listed(text=tags), "related_files": listed(text=files)}
    given: dict[str, Any] = {name: value for name, value in fields.items() if value}
    with terminal.client(project=project) as client:
        if lines:
            _add_lines(terminal, client, given)
            return
        content = " ".join(words or ())
        if content in {"", "-"}:
            content = sys.stdin.read()
        done = client.add(content=content.strip(), **given)
    stored = done.get("memory")
    detail = shortened(text=stored["content"]) if stored else _reason(done)
    terminal.show(row=done, line=f"{done['outcome']}: {detail}")


def _reason(done: Json) -> str:
    return str(done.get("hint") or done.get("reason") or "")


def _add_lines(terminal: Terminal, client: "Client", given: Json) -> None:
    refused = 0
    contents = (line.strip() for line in sys.stdin if line.strip())
    while portion := list(islice(contents, BULK)):
        memories = [{"content": content, **given} for content in portion]
        outcomes = client.add_all(memories=memories)
        for content, done in zip(portion, outcomes, strict=True):
            is_refused = done["outcome"] in REFUSED
            refused += is_refused
            reason = f" ({_reason(done)})" if is_refused else ""
            line = f"{done['outcome']}: {shortened(text=content)}{reason}"
            terminal.show(row=done, line=line)
    if refused:
        detail = f"{refused} of the memories were refused."
        raise Incomplete(detail=detail, hint="Each line says why.")


def import_files(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files; - reads stdin.")],
    project: Project = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is done.")] = True,
) -> None:
    """Take in files of memories: Markdown, JSON, JSON lines, exports of ours and of others."""
    terminal: Terminal = context.obj
    failed = 0
    with terminal.client(project=project) as client:
        for path in paths:
            name = "stdin" if path == _STDIN else path.name
            data = read_file(path=path, most=FILE_MOST)
            if dry_run:
                preview = client.begin_import(name=name, data=data, preview=True)
                line = f"{preview.get('total', 0)} · {_counts(preview.get('counts'))}"
                terminal.show(row=preview, line=f"{name}: {line}")
                continue
            batch = client.begin_import(name=name, data=data)
            if wait:
                batch = _wait(terminal, client, batch)
            failed += batch["state"] == "failed"
            line = f"{name}: {batch['state']} · {_counts(batch['counts'])} {batch['error']}"
            terminal.show(row=batch, line=line.rstrip())
    if failed:
        raise Incomplete(detail=f"{failed} of {len(paths)} files failed.")


def export(
    context: typer.Context,
    form: Annotated[str, typer.Option("--format", help=" | ".join(_FORMATS))] = "ndjson",
    output: Annotated[Path, typer.Option("--output", "-o", help="A file; - is stdout.")] = _STDIN,
    project: Project = "",
    query: Annotated[str, typer.Option("--query", help="Filters; is:any for all.")] = "",
) -> None:
    """Take out what you may see, as a file or to stdout."""
    terminal: Terminal = context.obj
    if form not in _FORMATS:
        raise Misused(
            detail=f"{form} is no format of exports.", hint=f"Formats: {', '.join(_FORMATS)}."
        )
    with (
        terminal.client(project=project) as client,
        client.export(form=form, query=query) as parts,
        progress(terminal=terminal, what="export", total=0) as advance,
    ):
        size = _write(output, _measured(parts, advance))
    terminal.note(f"{size:,} bytes")


def _measured(parts: Iterable[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    for part in parts:
        advance(len(part))
        yield part


def _write(output: Path, parts: Iterable[bytes]) -> int:
    """Write to a file that is there when it is whole, or to stdout; return the bytes."""
    if output == _STDIN:
        size = sum(sys.stdout.buffer.write(part) for part in parts)
        sys.stdout.flush()
        return size
    partial = output.with_name(f"{output.name}.part")
    try:
        with partial.open("wb") as file:
            size = sum(file.write(part) for part in parts)
        partial.replace(output)
    except OSError as error:
        raise ClientError(
            detail=f"{output} cannot be written: {error.strerror}", command="cairn export --help"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return size


def _wait(terminal: Terminal, client: "Client", batch: Json) -> Json:
    """Poll until an import has ended, and show how many of its statements are done."""
    shown = 0
    with progress(
        terminal=terminal, what="import", total=batch["total"], of_bytes=False
    ) as advance:
        while batch["state"] in _RUNNING:
            done = sum(count for outcome, count in batch["counts"].items() if outcome != "waiting")
            advance(done - shown)
            shown = done
            time.sleep(POLL_SECONDS)
            batch = client.batch(batch_id=batch["id"])
    return batch


def _counts(counts: object) -> str:
    pairs = counts.items() if isinstance(counts, dict) else ()
    return ", ".join(f"{count} {name}" for name, count in pairs) or "nothing"


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
    line = "{agent} · {role} of {organization[slug]} · ".format(**me) + ", ".join(me["scopes"])
    terminal.show(row=me, line=f"{line} · {client.url}")


def status(context: typer.Context) -> None:
    """Say where you are logged in, and which projects you see there."""
    terminal: Terminal = context.obj
    with terminal.client() as client:
        me, projects = client.me(), client.projects()
    who = "{organization[slug]} · {role} · ".format(**me) + ", ".join(me["scopes"])
    terminal.note(f"{client.url} · {who}")
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


def _carry(client: "Client", line: str) -> Json | None:
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
            me = client.me()
            is_person = bool(me.get("user_id"))
            whose = {"mine": True} if is_person else {"token_id": str(me.get("token_id") or "")}
        state = client.pause(project=client.project, paused=paused, **whose)
    agents = "all agents" if state.get("paused") else "your agents"
    is_paused = state.get("paused") or state.get("this_token_paused")
    line = f"paused for {agents}" if is_paused else "not paused"
    terminal.show(row=state, line=f"{client.project}: {line}")


def _line(memory: "Memory") -> str:
    return f"{memory.type}  {shortened(text=memory.content)}"


def check(
    context: typer.Context,
    plan: Plan = None,
    diff: Diff = None,
    project: Project = "",
    strict: Strict = False,
) -> None:
    """Hold a plan or a diff against what is known; exit with 6 where that says stop."""
    terminal: Terminal = context.obj
    named = [(kind, path) for kind, path in (("plan", plan), ("diff", diff)) if path is not None]
    if len(named) != 1:
        raise Misused(
            detail="Name a plan or a diff, one of the two.",
            hint="git diff main | cairn check --diff -",
        )
    ((kind, path),) = named
    text = read_file(path=path, most=BYTES_MOST).decode("utf-8", "replace")
    if not text.strip():
        terminal.note("There is nothing to check.")
        return
    with terminal.client(project=project, subject="A check belongs") as client:
        result = client.check(kind=kind, text=text, project=client.project)
    _show(terminal, result)
    unseen = sorted(_UNSEEN.intersection(result.get("degraded") or ())) if strict else []
    if unseen:
        terminal.note(f"not all of it was looked at: {', '.join(unseen)}")
    if unseen or result.get("verdict") in _STOPPING[strict]:
        raise typer.Exit(STOPPED)


def _show(terminal: Terminal, result: Json) -> None:
    if terminal.is_json:
        terminal.show(row=result, line="")
        return
    for finding in result.get("findings", ()):
        memory, missing = finding["memory"], finding.get("missing") or ()
        where = ", ".join(map(_place, finding.get("places", ()))) or "the whole"
        without = f" ({', '.join(missing)})" if missing else ""
        reason = f"{_REASONS.get(finding['why'], finding['why'])}{without}"
        cited = f"{memory['type']} {memory['id'][:SHORT_ID]}: {shortened(text=memory['content'])}"
        line = f"{finding['level']:<8} {where}: {reason}. {cited}"
        terminal.show(row=finding, line=line)
    for tie in result.get("usually_together", ()):
        line = f"note     {tie['file']} is touched together with {tie['other']} in most sessions"
        terminal.show(row=tie, line=line)
    if result.get("degraded"):
        terminal.note(f"degraded: {', '.join(result['degraded'])}")
    terminal.note(f"verdict: {result.get('verdict')}")


def _place(place: Json) -> str:
    if place.get("step"):
        return f"step {place['step']} (line {place['first_line']})"
    if place.get("first_line"):
        return f"{place['file']}:{place['first_line']}-{place['last_line']}"
    return str(place["file"])
