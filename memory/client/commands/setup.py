"""Commands that sign this machine in and connect its agents: login, init, doctor, uninstall.

The token of a login is what agents' programs get, so it never decides as its person; that does
another one (`login --review`), for the commands of a person alone.

With a code a person signs in in a browser, wherever that is (RFC 8628): the program shows the code
and polls at the server's pace until somebody has decided; while the server does not answer it polls
more rarely (RFC 8628, 3.5). The token is stored like any other, for its owner alone.

The doctor leaves out a check that cannot be made because an earlier one failed.
"""

import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer
from click import Choice

from .. import configuration, install
from ..configuration import Connection, Places
from ..errors import ClientError, Incomplete, Misused, Problem, Unreachable
from ..install import HARNESSES, SCRIPT, PlannedEdit, is_there
from ..terminal import Json, Project, Terminal, Yes
from ..transcripts import reader

if TYPE_CHECKING:
    from ..api import Client

# More seconds between two questions, by the code that means "ask again": RFC 8628, 3.5
SLOWER_SECONDS: Final = {"authorization_pending": 0, "slow_down": 5}
USUAL_SECONDS: Final = 5.0  # between two questions, where the server names none: RFC 8628, 3.2
NAME_MOST: Final = 80  # characters, the server's
SKEW_MOST_SECONDS: Final = 120  # between two clocks; default
NEEDED: Final = ("read", "write")  # scopes
LESSONS_FOR: Final = ("personal", "project")
MANAGERS: Final = frozenset({"owner", "admin"})  # who may say what holds for a project
REVIEW_SCOPES: Final = ("read", "write", "review")  # of a login that decides as its person
HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "cairn-cli", "version": "1"},
    },
}


def init(
    context: typer.Context,
    harness: Annotated[
        list[str] | None, typer.Option("--harness", help=f"{' | '.join(HARNESSES)}; all else.")
    ] = None,
    project: Project = "",
    lessons: Annotated[
        str, typer.Option(help=f"What sessions teach is for: {' | '.join(LESSONS_FOR)}.")
    ] = "",
    print_only: Annotated[bool, typer.Option("--print-only", help="Show; write nothing.")] = False,
    yes: Yes = False,
) -> None:
    """Connect the agents of this machine: shows each file and what changes in it, then asks."""
    terminal: Terminal = context.obj
    connection = terminal.connection(project=project)
    _check_lessons(lessons, connection.project)
    chosen = _chosen(terminal, harness or [])
    planned = tuple(install.plan(places=terminal.places, connection=connection, harnesses=chosen))
    for one in planned:
        _show_planned(terminal, one)
    due = [one for one in planned if one.changes]
    if due and not print_only:
        _check_lendable(terminal, connection)
        _confirm(terminal, yes, f"Write {len(due)} files?", "cairn init --yes")
        for one in due:
            install.write(places=terminal.places, planned=one)
        terminal.note(f"{len(due)} files were written. Undo: cairn uninstall. Next: cairn doctor")
    _choose_lessons(terminal, connection, lessons, is_shown_only=print_only)
    if any(one.fault for one in planned):
        raise Incomplete(
            detail="A file was left alone.",
            hint="What goes into it is shown above; put your token in by hand.",
            command="cairn init --print-only",
        )


def _check_lendable(terminal: Terminal, connection: Connection) -> None:
    """Raise Misused for a token that does more than agents may; a server away asks nobody."""
    try:
        with terminal.client(connection=connection) as client:
            scopes = client.me().get("scopes", ())
    except Unreachable:
        return  # the doctor says so
    for scope in sorted(set(scopes) - set(configuration.SCOPES)):
        raise Misused(
            detail=f"This token has the scope {scope}, so no agent's program gets it.",
            hint="Log in again without it; cairn login --review adds a token for you alone.",
            command=f"cairn login {connection.url}",
        )


def _check_lessons(lessons: str, project: str) -> None:
    """Raise Misused for an audience that is not known, or of no project, before files change."""
    if lessons and lessons not in LESSONS_FOR:
        raise Misused(
            detail=f"{lessons} is not known.", hint=f"Known are {', '.join(LESSONS_FOR)}."
        )
    if lessons and not project:
        raise Misused(
            detail="--lessons is of a project, and none is named.",
            hint="Name it: --project NAME.",
            command="cairn whoami",
        )


def _choose_lessons(
    terminal: Terminal, connection: Connection, lessons: str, *, is_shown_only: bool
) -> None:
    """Set for whom is what sessions of the project teach; ask who may say so, once."""
    if is_shown_only or not connection.project:
        return
    with terminal.client(connection=connection, in_person=True) as client:
        chosen = lessons or _asked_lessons(client, connection.project)
        if chosen:
            client.set_lessons(project=connection.project, lessons=chosen)
            terminal.note(f"What sessions of {connection.project} teach is for: {chosen}.")


def _asked_lessons(client: "Client", project: str) -> str:
    """Return what a person answers; empty where nobody is there, or it is said already."""
    if not sys.stdin.isatty() or client.me().get("role") not in MANAGERS:
        return ""
    if "review" not in client.me().get("scopes", ()):
        return ""
    named = {str(one["slug"]): one for one in client.projects()}
    if named.get(project, {}).get("session_lessons"):
        return ""
    question = f"Who gets what sessions of {project} teach, once somebody keeps it?"
    return str(typer.prompt(question, type=Choice(LESSONS_FOR), err=True))


def uninstall(context: typer.Context, yes: Yes = False) -> None:
    """Take everything out again: parts of other programs' files, settings, bookmarks."""
    terminal: Terminal = context.obj
    files = install.installed(places=terminal.places)
    for file, name in files.items():
        terminal.note(f"{name}: {file}")
    question = f"Undo {len(files)} files and forget the login?"
    _confirm(terminal, yes, question, "cairn uninstall --yes")
    left: list[str] = []
    for path, did, fault in install.undo(places=terminal.places):
        row, line = {"file": str(path), "did": did}, f"{path} {did}"
        if fault is not None:
            left.append(str(path))
            row, line = {**row, "error": fault.detail}, f"{line}: {fault.detail}"
        terminal.show(row=row, line=line)
    install.forget(places=terminal.places)
    if left:
        raise Incomplete(
            detail=f"Left alone: {', '.join(left)}. All else was undone.",
            hint="Take our part out by hand: it is called cairn there.",
            command="cairn doctor",
        )


def examine(context: typer.Context) -> None:
    """Look at the settings, the server, the token, and the agents of this machine."""
    terminal: Terminal = context.obj
    connection = terminal.connection()
    places, now = terminal.places, datetime.now(UTC)
    with terminal.client(connection=connection) as client:
        found = (
            *check_settings(places=places, connection=connection),
            *check_server(client=client, connection=connection, now=now),
            *check_harnesses(places=places, connection=connection),
        )
    if terminal.is_json:
        for one in found:
            terminal.show(row=one._asdict(), line="")
    else:
        rows = [("ok" if one.ok else "WRONG", one.check, one.detail, one.fix) for one in found]
        terminal.table(head=("", "what", "seen", "mend"), rows=rows)
    wrong = [one for one in found if not one.ok]
    if wrong:
        raise ClientError(
            detail=f"{len(wrong)} of {len(found)} checks failed.",
            command=next((one.fix for one in wrong if one.fix.startswith("cairn ")), "cairn login"),
        )


def _chosen(terminal: Terminal, names: list[str]) -> tuple[str, ...]:
    unknown = [name for name in names if name not in HARNESSES]
    if unknown:
        raise Misused(
            detail=f"{unknown[0]} is not known.", hint=f"Known are {', '.join(HARNESSES)}."
        )
    if names:
        return tuple(names)
    found = tuple(one for one in HARNESSES if is_there(harness=one, home=terminal.places.home))
    if not found:
        raise Misused(
            detail="No agent was found on this machine.",
            hint="Name one with --harness.",
            command="cairn init --harness claude-code",
        )
    return found


def _show_planned(terminal: Terminal, one: PlannedEdit) -> None:
    row = {"harness": one.harness, "file": str(one.path), "changes": one.changes}
    if one.fault is not None:
        detail = f"{one.fault.detail} {one.fault.hint}".strip()
        line = f"{one.path}: left alone. {detail}\nWhat goes into it:\n\n{one.part}"
        terminal.show(row={**row, "error": detail, "part": one.part}, line=line)
        return
    line = one.diff if one.changes else f"{one.path}: nothing to do"
    terminal.show(row={**row, "diff": one.diff}, line=line)


def _confirm(terminal: Terminal, yes: bool, question: str, command: str) -> None:
    """Go on with a yes. Raises Misused where nobody can be asked."""
    if not yes:
        terminal.confirm(
            question=question,
            refusal=Misused(
                detail="Nobody is there to be asked.", hint="Say --yes.", command=command
            ),
            declined=ClientError(detail="Nothing was done.", command=command),
        )


def login(
    context: typer.Context,
    address: Annotated[str, typer.Argument(help="Address of the server.")] = "",
    project: Project = "",
    by_code: Annotated[
        bool | None,
        typer.Option("--code/--paste", help="Type a code in a browser, or paste a token here."),
    ] = None,
    review: Annotated[
        bool, typer.Option("--review", help="Also decide as you do: `cairn keep`, for you alone.")
    ] = False,
) -> None:
    """Sign this machine in: with a code that you type in a browser, or with a token of yours.

    A token is read from stdin where that is a pipe, so that it stands in no history.
    """
    terminal: Terminal = context.obj
    if review:
        _add_review(terminal, by_code)
        return
    stored = {} if address else configuration.read(path=terminal.places.file)
    url = address or _known_address(terminal, stored) or _prompt("Address of the server")
    connection = Connection(url=configuration.address(text=url), token="", project=project)
    token = _get_token(terminal, connection, stored, by_code)
    kept = stored.get("review", "") if token == stored.get("token") else ""
    connection = replace(connection, token=token, review=kept)
    with terminal.client(connection=connection) as client:
        me = client.me()
        slugs = [str(one.get("slug")) for one in client.projects()]
    usual = _usual_project(slugs, project)
    configuration.save(path=terminal.places.file, connection=replace(connection, project=usual))
    line = "Logged in: {agent} · {organization[slug]} · ".format(**me) + (usual or "all projects")
    terminal.show(row={"url": connection.url, "project": usual, **me}, line=line)
    terminal.note("Next: cairn init")


def _add_review(terminal: Terminal, by_code: bool | None) -> None:
    """Store a second token, that decides as the person who has logged in here already."""
    stored = configuration.read(path=terminal.places.file)
    if not (stored.get("url") and stored.get("token")):
        raise Misused(
            detail="Nobody has logged in here yet.",
            hint="Log in first, then add --review.",
            command="cairn login https://HOST",
        )
    connection = Connection(
        url=stored["url"], token=stored["token"], project=stored.get("project", "")
    )
    nobody = replace(connection, token="")
    token = _get_token(terminal, nobody, {}, by_code, scopes=REVIEW_SCOPES)
    with terminal.client(connection=replace(connection, token=token)) as client:
        me = client.me()
    if "review" not in me["scopes"]:
        raise Misused(
            detail="This token does not have the scope review.",
            hint="Leave the scope checked when you approve the code.",
            command="cairn login --review",
        )
    configuration.save(path=terminal.places.file, connection=replace(connection, review=token))
    terminal.show(row={"url": connection.url, **me}, line="Logged in to review.")


def _known_address(terminal: Terminal, stored: Mapping[str, str]) -> str:
    known = (terminal.given, {"url": terminal.environment.get("CAIRN_URL")}, stored)
    return next((one["url"] for one in known if one.get("url")), "") or ""


def _given_token(terminal: Terminal, connection: Connection, stored: Mapping[str, str]) -> str:
    """Return the token that was given; the stored one serves to choose another project."""
    token = terminal.given.get("token") or terminal.environment.get("CAIRN_TOKEN") or ""
    is_stored = connection.project and connection.url == stored.get("url")
    return token or (stored.get("token", "") if is_stored else "")


def _get_token(
    terminal: Terminal,
    connection: Connection,
    stored: Mapping[str, str],
    by_code: bool | None,
    *,
    scopes: Sequence[str] = (),
) -> str:
    """Return a token that is given, fetched by a code, or typed in."""
    token = "" if by_code is not None else _given_token(terminal, connection, stored)
    if not token and (sys.stdin.isatty() if by_code is None else by_code):
        with terminal.client(connection=connection) as client:
            token = sign_in(
                client=client, show=lambda code: _show_code(terminal, code), scopes=scopes
            )
    return (token or _prompt("Token", hide=True)).strip()


def _usual_project(slugs: list[str], project: str) -> str:
    """Return the project that is meant, or the only one there is. Raises Misused."""
    if project and project not in slugs:
        raise Misused(
            detail=f"The token's owner sees no project {project}.",
            hint=f"There are: {', '.join(slugs) or 'none'}.",
            command="cairn login --project SLUG",
        )
    return slugs[0] if not project and len(slugs) == 1 else project


def sign_in(
    *,
    client: "Client",
    show: Callable[[Json], None],
    pause: Callable[[float], None] = time.sleep,
    scopes: Sequence[str] = (),
) -> str:
    """Return a token, once somebody has approved.

    Raises Problem for a refusal, ClientError when nobody has decided in time, Unreachable when the
    server is away so long.
    """
    name = f"cairn on {platform.node() or 'a machine'}"
    printable = "".join(letter for letter in name if letter.isprintable())
    answer = client.ask_code(name=printable[:NAME_MOST], scopes=scopes)
    show(answer)
    interval, waited = float(answer.get("interval") or USUAL_SECONDS), 0.0
    lasts = float(answer["expires_in"])
    while waited < lasts:
        pause(interval)
        waited += interval
        try:
            return str(client.fetch_token(device_code=answer["device_code"])["access_token"])
        except Problem as problem:
            if problem.code not in SLOWER_SECONDS:
                raise
            interval += SLOWER_SECONDS[problem.code]
        except Unreachable:
            interval *= 2
            if waited + interval >= lasts:
                raise
    raise ClientError(
        detail="Nobody approved the code in time.", hint="Begin again.", command="cairn login"
    )


def _show_code(terminal: Terminal, answer: Json) -> None:
    """Show a person where to go; also with --quiet, since nothing goes on without."""
    address, code = answer["verification_uri"], answer["user_code"]
    direct = answer.get("verification_uri_complete") or address
    if terminal.is_json:
        terminal.show(row={"verification_uri": direct, "user_code": code}, line="")
    else:
        terminal.err.write(f"Open {address} and type {code}\nor open {direct}\n")
    terminal.out.flush()
    terminal.err.flush()


def _prompt(what: str, *, hide: bool = False) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=hide, err=True))
    text = sys.stdin.readline().strip()
    if not text:
        raise Misused(
            detail=f"{what}: none was given.",
            hint="Pipe it in, or set CAIRN_URL and CAIRN_TOKEN.",
            command="cairn login https://HOST < FILE",
        )
    return text


class Probe(NamedTuple):
    """A finding: what was looked at, whether it is well, what was seen, how to mend it."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


def check_settings(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the file with the token, and at the address it goes to."""
    file, url = places.file, connection.url
    if file.exists() and configuration.is_private(path=file):
        yield Probe("settings", True, str(file))
    elif file.exists():
        yield Probe("settings", False, f"{file} can be read by others", f"chmod 600 {file}")
    if connection.is_unencrypted:
        yield Probe("address", False, f"{url}: the token travels in the clear", "Use https.")
    else:
        yield Probe("address", True, url)


def check_server(*, client: "Client", connection: Connection, now: datetime) -> Iterator[Probe]:
    """Look at the server, the clock, the token, the project and MCP."""
    try:
        server_time, seconds = client.greet()
    except ClientError as fault:
        yield Probe("server", False, fault.detail, fault.hint)
        return
    yield Probe("server", True, f"answers in {seconds * 1000:.0f} ms")
    if server_time:
        skew = abs((parsedate_to_datetime(server_time).astimezone(UTC) - now).total_seconds())
        is_well = skew <= SKEW_MOST_SECONDS
        fix = "" if is_well else "Set the clock of this machine."
        yield Probe("clock", is_well, f"{skew:.0f} s apart", fix)
    token = _check_token(client)
    yield token
    if token.ok:
        yield _check_project(client, connection)
        yield _check_mcp(client)


def check_harnesses(*, places: Places, connection: Connection) -> Iterator[Probe]:
    """Look at the programs that are here: whether they are connected, and what they wrote."""
    for harness in HARNESSES:
        if is_there(harness=harness, home=places.home):
            yield _check_harness(harness, places, connection)
    script = places.home / SCRIPT
    if script.exists():
        missing = " and ".join(one for one in ("sh", "curl") if shutil.which(one) is None)
        if missing:
            yield Probe("hooks", False, f"{missing} is missing", f"Install {missing}.")
        else:
            yield Probe("hooks", True, f"{script} can run")
    for name in reader.SOURCES:
        sizes = [one.size for one in reader.find_transcripts(home=places.home, name=name)]
        if sizes:
            detail = f"{len(sizes)} of {name}, {sum(sizes) / 1_000_000:.1f} MB"
            yield Probe("transcripts", True, detail)


def _check_token(client: "Client") -> Probe:
    try:
        me = client.me()
    except ClientError as fault:
        return Probe("token", False, fault.detail, "cairn login")
    missing = " and ".join(scope for scope in NEEDED if scope not in me["scopes"])
    detail = "{agent}: {role} of {organization[slug]}, ".format(**me) + ", ".join(me["scopes"])
    fix = f"Make a token with the scope {missing}, then cairn login" if missing else ""
    return Probe("token", not missing, detail, fix)


def _check_project(client: "Client", connection: Connection) -> Probe:
    slugs = [str(one.get("slug")) for one in client.projects()]
    seen = f"sees {', '.join(slugs[:5]) or 'no project'}"
    if not connection.project:
        return Probe("project", True, f"none by default; {seen}")
    if connection.project in slugs:
        return Probe("project", True, connection.project)
    detail = f"{connection.project} is not seen; {seen}"
    return Probe("project", False, detail, "cairn login --project SLUG")


def _check_mcp(client: "Client") -> Probe:
    try:
        result = client.speak_mcp(message=HELLO).get("result")
    except ClientError as fault:
        return Probe("mcp", False, fault.detail, fault.hint)
    if not isinstance(result, dict):
        return Probe("mcp", False, "refuses")
    return Probe("mcp", True, f"speaks {result.get('protocolVersion', '')}")


def _check_harness(harness: str, places: Places, connection: Connection) -> Probe:
    planned = tuple(install.plan(places=places, connection=connection, harnesses=(harness,)))
    for one in planned:
        if one.fault is not None:
            fix = one.fault.hint or "Mend the file."
            return Probe(harness, False, f"{one.path}: {one.fault.detail}", fix)
    missing = ", ".join(one.path.name for one in planned if one.changes)
    if missing:
        fix = f"cairn init --harness {harness}"
        return Probe(harness, False, f"not connected as here: {missing}", fix)
    return Probe(harness, True, "connected")
