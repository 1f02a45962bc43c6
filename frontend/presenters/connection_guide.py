"""How to connect each agent, and what is said of a connection that was tried.

Pure. The token is empty until one has been made on the page; then a placeholder stands in.
"""

import json
from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from frontend.labels.memory_labels import Name
from memory.injection.actions.connection_test import ConnectionOutcome

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
