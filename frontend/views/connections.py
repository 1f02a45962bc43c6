"""Connections: how to connect an agent, whether it works yet, and how far the code index is."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.actions.tokens import NewToken, create_token
from accounts.identifiers import as_uuid
from accounts.queries import TokenView, is_silent, list_tokens, state_of
from frontend.labels import Name
from frontend.views import base
from frontend.views.base import Frame
from graph.index.queries import code_index
from memory.injection.actions.connection_test import ConnectionOutcome, try_connection
from memory.injection.harnesses import HOOK_SCRIPT_VERSION
from memory.injection.queries import milestones, project_totals
from teams import actions
from teams.permissions import Act
from teams.queries import Pauses, pauses_of

NOBODY: Final = UUID(int=0)  # what is no id names no token
PLACEHOLDER: Final = "YOUR_TOKEN"
Snippet = tuple[str, str]  # where it goes, and the text to paste

_NEW_TOKEN: Final = _("Make a new one on this page, and set the agent up with it.")
ANSWERS: Final[Mapping[ConnectionOutcome, tuple[str, Name, Name]]] = {  # color, answer, what to do
    ConnectionOutcome.WORKS: (
        "good",
        _("It works: events are stored, and the agent gets memories."),
        _("Still silent? Check the address and the token in the agent's configuration."),
    ),
    ConnectionOutcome.REVOKED: ("bad", _("Refused: this token was revoked."), _NEW_TOKEN),
    ConnectionOutcome.EXPIRED: ("bad", _("Refused: this token has expired."), _NEW_TOKEN),
    ConnectionOutcome.ELSEWHERE: (
        "bad",
        _("Refused: this token does not reach this project."),
        _("Make a token here, or one that reaches every project of yours."),
    ),
    ConnectionOutcome.READ_ONLY: (
        "warn",
        _("Refused: this token may read, and hooks also write."),
        _("It searches and reads all the same; hooks need a token that writes."),
    ),
    ConnectionOutcome.PAUSED: (
        "warn",
        _("Paused: events are stored, but agents of this project get no memories."),
        _("Someone who manages the project can resume it on this page."),
    ),
    ConnectionOutcome.TOKEN_PAUSED: (
        "warn",
        _("Paused: events are stored, but this agent gets no memories here."),
        _("Resume it beside its name."),
    ),
    ConnectionOutcome.OFF: (
        "warn",
        _("Switched off: events are stored, but all hooks of this project are off."),
        _("Turn hooks on in the project settings."),
    ),
}


@base.reader
def connections(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the page."""
    return _page(request, frame)


@base.reader
def steps(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the check-list alone, for the live refresh."""
    checklist = _checklist(frame, list_tokens(caller=frame.caller))
    return base.page(request, "partials/checklist.html", checklist)


@require_POST
@base.member
def token(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Make a token, and show every snippet with it once."""
    tool = request.POST.get("tool", "api")
    issued = create_token(
        caller=frame.caller,
        new=NewToken(name=request.POST.get("name", "").strip() or tool, source_interface=tool),
        now=frame.now,
    )
    return _page(request, frame, token=issued.text, part="partials/snippets.html")


@require_POST
@base.member
def pause(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Pause or resume the project, or one token in it."""
    named = request.POST.get("token", "")
    actions.pause(
        caller=frame.caller,
        ref=frame.slug,
        token_id=(as_uuid(text=named) or NOBODY) if named else None,
        paused=request.POST.get("paused") == "1",
    )
    return base.moved(request, to=base.address("connections", frame))


@require_POST
@base.member
def attempt(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Try one of one's own tokens, and show how far an event of it comes."""
    token_id = as_uuid(text=request.POST.get("token", "")) or NOBODY
    outcome = try_connection(caller=frame.caller, ref=frame.slug, token_id=token_id, now=frame.now)
    tried = next(one for one in list_tokens(caller=frame.caller) if one.id == token_id)
    answer = ANSWERS[outcome]
    return _page(request, frame, tried=tried, answer=answer, part="partials/tried.html")


@base.reader
def code_index_card(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show how far the index of the code is: for the page that holds it, and its live refresh."""
    view = code_index(caller=frame.caller, ref=frame.slug)
    context = {
        "section": "connections",
        "view": view,
        "others": view.files_total - sum(view.languages.values()),
    }
    return base.dialog(request, "partials/code_index.html", context)


def _page(
    request: HttpRequest, frame: Frame, *, token: str = "", part: str = "", **extra: object
) -> HttpResponse:
    """Show the page, or for htmx the part of it that changed."""
    known = list_tokens(caller=frame.caller)
    context = {
        "section": "connections",
        "token": token,
        "ways": snippets(base_url=settings.BASE_URL, token=token, project=frame.slug),
        **_checklist(frame, known),
        "own_tokens": tuple(one for one in known if one.user_id == frame.caller.user_id),
        **extra,
    }
    is_part = part and base.is_htmx(request)
    return base.page(request, part if is_part else "pages/connections.html", context)


def _checklist(frame: Frame, known: tuple[TokenView, ...]) -> dict[str, object]:
    """Return how far the agents are; `known` are the tokens that who looks may see."""
    project_id = None if frame.project is None else frame.project.id
    living = tuple(
        one
        for one in known
        if state_of(token=one, now=frame.now) in {"active", "rotated"}
        and (one.projects is None or project_id in one.projects)
    )
    seen = tuple(one for one in living if one.last_used_at is not None)
    reached = milestones(caller=frame.caller, project=frame.slug)
    given = project_totals(caller=frame.caller, project=frame.slug)
    paused = pauses_of(caller=frame.caller, ref=frame.slug)
    agents = [_agent(one, paused, frame.now) for one in seen]
    return {
        "steps": (
            (_("Token created"), _earliest(one.created_at for one in living)),
            (_("First call"), _earliest(one.last_used_at for one in seen)),
            (_("First memory given to an agent"), given.first_at),
            (_("First memory from an agent"), reached.first_memory_at),
        ),
        "agents": agents,
        "newest_hook": HOOK_SCRIPT_VERSION,
        "has_old": any(one["is_old"] for one in agents),
        "given": given,
        "is_paused": paused.paused,
        "may_pause": frame.may(Act.MANAGE_PROJECTS),
        "may_pause_agents": frame.may(Act.WRITE),
    }


def _agent(token: TokenView, paused: Pauses, now: datetime) -> dict[str, object]:
    hook = token.last_used_hook
    return {
        "token": token,
        "is_paused": token.id in paused.tokens or token.user_id in paused.people,
        "is_silent": is_silent(token=token, now=now),
        "is_old": hook is not None and hook < HOOK_SCRIPT_VERSION,
    }


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)


def snippets(
    *, base_url: str, token: str, project: str
) -> tuple[tuple[str, tuple[Snippet, ...]], ...]:
    """Return the name of each way to connect and its snippets, filled for this project."""
    secret = token or PLACEHOLDER
    mcp = f"{base_url}/mcp"
    server = {"url": mcp, "headers": {"Authorization": f"Bearer {secret}"}}
    claude = (
        f"claude mcp add --transport http cairn {mcp} \\\n"
        f'  --header "Authorization: Bearer {secret}"'
    )
    cursor = json.dumps({"mcpServers": {"cairn": server}}, indent=2)
    codex = f'[mcp_servers.cairn]\nurl = "{mcp}"\nbearer_token_env_var = "CAIRN_TOKEN"'
    vscode = json.dumps({"servers": {"cairn": {"type": "http", **server}}}, indent=2)
    return (
        ("Claude Code", (("Terminal", claude),)),
        ("Cursor", ((".cursor/mcp.json", cursor),)),
        (
            "Codex",
            (("~/.codex/config.toml", codex), ("Terminal", f"export CAIRN_TOKEN={secret}")),
        ),
        ("Copilot, VS Code", ((".vscode/mcp.json", vscode),)),
        ("MCP", (("Streamable HTTP", f"{mcp}\nAuthorization: Bearer {secret}"),)),
        ("Hooks", _hooks(base_url, secret, project)),
        ("REST", _rest(base_url, secret, project)),
    )


def _hooks(base_url: str, secret: str, project: str) -> tuple[Snippet, ...]:
    """Return how programs are told of the script of the plugin folder, and what it needs."""
    named = {"CAIRN_URL": base_url, "CAIRN_TOKEN": secret, "CAIRN_PROJECT": project}
    exports = "\n".join(f"export {name}={value}" for name, value in named.items())
    copied = (
        "mkdir -p ~/.cairn ~/.copilot/hooks\n"
        "cp -R deploy/plugin ~/.cairn/plugin\n"
        "cp deploy/plugin/hooks/copilot.json ~/.copilot/hooks/cairn.json"
    )
    script = 'exec sh "$HOME/.cairn/plugin/bin/hook.sh" cline'
    return (
        ("Claude Code", f"{exports}\nclaude --plugin-dir deploy/plugin"),
        ("Copilot CLI", f"{exports}\n{copied}"),
        (
            "Cline: .clinerules/hooks/UserPromptSubmit, PostToolUse, TaskComplete",
            f"#!/bin/sh\n{exports}\n{script}",
        ),
    )


def _rest(base_url: str, secret: str, project: str) -> tuple[Snippet, ...]:
    """Return how a memory is stored and how one is found."""
    head = f'  -H "Authorization: Bearer {secret}" -H "Content-Type: application/json" \\\n'
    calls = (
        ("memories", {"project": project, "content": "Deploys need the VPN."}),
        ("search", {"project": project, "query": "how do we deploy"}),
    )
    return tuple(
        ("Terminal", f"curl {base_url}/api/v1/{path} \\\n{head}  -d '{json.dumps(body)}'")
        for path, body in calls
    )
