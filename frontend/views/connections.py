"""How to connect an agent, whether it works, how far the code index is, and how far to trust."""

import json
import re
from collections.abc import Mapping
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
from frontend.labels import ASKED, Name
from frontend.views import base
from frontend.views.base import Frame
from graph.index.queries import code_index
from memory.injection.actions.connection_test import ConnectionOutcome, try_connection
from memory.injection.harnesses import HOOK_SCRIPT_VERSION
from memory.injection.queries import milestones, project_totals, reflection_totals
from memory.sessions.actions.trust import get_trust, set_trust
from teams import actions
from teams.permissions import Act
from teams.queries import Pauses, pauses_of
from teams.trust import LEVELS, TrustLevel

NOBODY: Final = UUID(int=0)  # what is no id names no token
PLACEHOLDER: Final = "YOUR_TOKEN"
Snippet = tuple[str, str, str]  # the way to connect, where it goes, and the text to paste

SERVER: Final = {"url": "{url}/mcp", "headers": {"Authorization": "Bearer {secret}"}}
EXPORTS: Final = """\
export CAIRN_URL={url}
export CAIRN_TOKEN={secret}
export CAIRN_PROJECT={project}
"""
CALL: Final = """\
curl {url}/api/v1/%s \\
  -H "Authorization: Bearer {secret}" -H "Content-Type: application/json" \\
  -d '%s'"""
SNIPPETS: Final[tuple[Snippet, ...]] = (  # hooks run the script of the plugin folder
    ("Claude Code", "Terminal", """\
claude mcp add --transport http cairn {url}/mcp \\
  --header "Authorization: Bearer {secret}\""""),
    ("Cursor", ".cursor/mcp.json", json.dumps({"mcpServers": {"cairn": SERVER}}, indent=2)),
    ("Codex", "~/.codex/config.toml", """\
[mcp_servers.cairn]
url = "{url}/mcp"
bearer_token_env_var = "CAIRN_TOKEN\""""),
    ("Codex", "Terminal", "export CAIRN_TOKEN={secret}"),
    ("Copilot, VS Code", ".vscode/mcp.json",
     json.dumps({"servers": {"cairn": {"type": "http", **SERVER}}}, indent=2)),
    ("MCP", "Streamable HTTP", "{url}/mcp\nAuthorization: Bearer {secret}"),
    ("Hooks", "Claude Code", f"{EXPORTS}claude --plugin-dir deploy/plugin"),
    ("Hooks", "Copilot CLI", f"""{EXPORTS}\
mkdir -p ~/.cairn ~/.copilot/hooks
cp -R deploy/plugin ~/.cairn/plugin
cp deploy/plugin/hooks/copilot.json ~/.copilot/hooks/cairn.json"""),
    ("Hooks", "Cline: .clinerules/hooks/UserPromptSubmit, PostToolUse, TaskComplete", f"""\
#!/bin/sh
{EXPORTS}exec sh "$HOME/.cairn/plugin/bin/hook.sh" cline"""),
    ("REST", "Terminal",
     CALL % ("memories", '{"project": "{project}", "content": "Deploys need the VPN."}')),
    ("REST", "Terminal",
     CALL % ("search", '{"project": "{project}", "query": "how do we deploy"}')),
)  # fmt: skip

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
TRUST_LEVELS: Final[Mapping[TrustLevel, Name]] = {
    TrustLevel.CAUTIOUS: _("Cautious"),
    TrustLevel.STANDARD: _("Standard"),
    TrustLevel.CONFIDENT: _("Confident"),
    TrustLevel.AUTONOMOUS: _("Autonomous"),
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
        "token": token,
        "snippets": snippets(base_url=settings.BASE_URL, token=token, project=frame.slug),
        **_checklist(frame, known),
        "own_tokens": tuple(one for one in known if one.user_id == frame.caller.user_id),
        **extra,
    }
    is_part = part and base.is_htmx(request)
    return base.page(request, part if is_part else "pages/connections.html", context)


def _checklist(frame: Frame, known: tuple[TokenView, ...]) -> dict[str, object]:
    """Return how far the agents are; `known` are the tokens that who looks may see."""
    living = _living_tokens(frame, known)
    seen = [one for one in living if one.last_used_at is not None]
    reached = milestones(caller=frame.caller, project=frame.slug)
    given = project_totals(caller=frame.caller, project=frame.slug)
    paused = pauses_of(caller=frame.caller, ref=frame.slug)
    agents = [_agent(one, paused, frame.now) for one in seen]
    return {
        "steps": (
            (_("Token created"), min((one.created_at for one in living), default=None)),
            (_("First call"), min(filter(None, (one.last_used_at for one in seen)), default=None)),
            (_("First memory given to an agent"), given.first_at),
            (_("First memory from an agent"), reached.first_memory_at),
        ),
        "agents": agents,
        "newest_hook": HOOK_SCRIPT_VERSION,
        "has_old": any(one["is_old"] for one in agents),
        "given": given,
        "asked": reflection_totals(caller=frame.caller, project=frame.slug),
        "is_paused": paused.paused,
        "may_pause": frame.may(Act.MANAGE_PROJECTS),
        "may_pause_agents": frame.may(Act.WRITE),
    }


def _living_tokens(frame: Frame, known: tuple[TokenView, ...]) -> list[TokenView]:
    """Return the tokens that are in effect and reach the project."""
    return [
        one
        for one in known
        if state_of(token=one, now=frame.now) in {"active", "rotated"}
        and (one.projects is None or frame.project_id in one.projects)
    ]


def _agent(token: TokenView, paused: Pauses, now: datetime) -> dict[str, object]:
    hook = token.last_used_hook
    return {
        "token": token,
        "is_paused": token.id in paused.tokens or token.user_id in paused.people,
        "is_silent": is_silent(token=token, now=now),
        "is_old": hook is not None and hook < HOOK_SCRIPT_VERSION,
    }


def snippets(*, base_url: str, token: str, project: str) -> list[Snippet]:
    """Return the snippets of each way to connect, filled for this project."""
    named = {"{url}": base_url, "{secret}": token or PLACEHOLDER, "{project}": project}
    pattern = re.compile("|".join(named))
    return [
        (way, where, pattern.sub(lambda found: named[found[0]], text))
        for way, where, text in SNIPPETS
    ]


@base.member
def trust(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dial, and set it; what is no position of it is the most careful one."""
    if request.method == "POST":
        named = {one.name.lower(): one for one in TrustLevel}
        level = named.get(request.POST.get("level", ""), TrustLevel.CAUTIOUS)
        set_trust(caller=frame.caller, ref=frame.slug, level=level, now=frame.now)
        return base.moved(request, to=base.address("trust", frame))
    view = get_trust(caller=frame.caller, ref=frame.slug)
    below = TrustLevel(max(view.level - 1, TrustLevel.CAUTIOUS))
    may_set = frame.may(Act.WRITE)
    context = {
        "trust": view,
        "dial": tuple(
            {
                "value": row.level.name.lower(),
                "name": TRUST_LEVELS[row.level],
                "least": row.injects_from_confidence,
                "asked": ASKED[row.asking.value],
                "is_here": row.level is view.level,
                "is_open": row.level in view.open_to and may_set,
                "is_for_owners": row.level is TrustLevel.AUTONOMOUS,
            }
            for row in LEVELS
        ),
        "here": TRUST_LEVELS[view.level],
        "value": view.level.name.lower(),
        "below": TRUST_LEVELS[below],
        "below_value": below.name.lower(),
        "following": None if view.following is None else TRUST_LEVELS[view.following.level],
        "may_set": may_set,
    }
    return base.page(request, "pages/trust.html", context)
