"""How to connect each agent: the text to paste, with address and token filled in.

Pure. The token is None until one has been made on the page; then a placeholder stands in.
"""

import json
from dataclasses import dataclass
from typing import Final

PLACEHOLDER: Final = "YOUR_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """Something to paste: where it goes, its language for highlighting, its text."""

    where: str
    language: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """One way to connect: the tool's key (as a source interface), its name, what to paste."""

    key: str
    name: str
    snippets: tuple[Snippet, ...]


def harnesses(*, base_url: str, token: str | None, project: str) -> tuple[Harness, ...]:
    """Return every way to connect, filled for this installation and project."""
    secret = token or PLACEHOLDER
    mcp = f"{base_url}/mcp"
    return (
        Harness(key="claude-code", name="Claude Code", snippets=(_claude(mcp, secret),)),
        Harness(key="cursor", name="Cursor", snippets=(_cursor(mcp, secret),)),
        Harness(key="codex", name="Codex", snippets=_codex(mcp, secret)),
        Harness(key="api", name="Copilot, VS Code", snippets=(_vscode(mcp, secret),)),
        Harness(key="unknown", name="MCP", snippets=(_mcp(mcp, secret),)),
        Harness(key="api", name="Hooks", snippets=_hooks(base_url, secret, project)),
        Harness(key="api", name="REST", snippets=_rest(base_url, secret, project)),
    )


def _claude(mcp: str, secret: str) -> Snippet:
    text = (
        f"claude mcp add --transport http cairn {mcp} \\\n"
        f'  --header "Authorization: Bearer {secret}"'
    )
    return Snippet(where="Terminal", language="bash", text=text)


def _cursor(mcp: str, secret: str) -> Snippet:
    server = {"url": mcp, "headers": {"Authorization": f"Bearer {secret}"}}
    return Snippet(
        where=".cursor/mcp.json", language="json", text=_json({"mcpServers": {"cairn": server}})
    )


def _codex(mcp: str, secret: str) -> tuple[Snippet, ...]:
    text = f'[mcp_servers.cairn]\nurl = "{mcp}"\nbearer_token_env_var = "CAIRN_TOKEN"'
    return (
        Snippet(where="~/.codex/config.toml", language="toml", text=text),
        Snippet(where="Terminal", language="bash", text=f"export CAIRN_TOKEN={secret}"),
    )


def _vscode(mcp: str, secret: str) -> Snippet:
    server = {"type": "http", "url": mcp, "headers": {"Authorization": f"Bearer {secret}"}}
    return Snippet(
        where=".vscode/mcp.json", language="json", text=_json({"servers": {"cairn": server}})
    )


def _mcp(mcp: str, secret: str) -> Snippet:
    return Snippet(
        where="Streamable HTTP", language="text", text=f"{mcp}\nAuthorization: Bearer {secret}"
    )


def _hooks(base_url: str, secret: str, project: str) -> tuple[Snippet, ...]:
    """Return how programs are told of the script of the plugin folder, and what it needs."""
    named = {"CAIRN_URL": base_url, "CAIRN_TOKEN": secret, "CAIRN_PROJECT": project}
    exports = "\n".join(f"export {name}={value}" for name, value in named.items())
    script = 'exec sh "$HOME/.cairn/plugin/bin/hook.sh" cline'
    copied = (
        "mkdir -p ~/.cairn ~/.copilot/hooks\n"
        "cp -R deploy/plugin ~/.cairn/plugin\n"
        "cp deploy/plugin/hooks/copilot.json ~/.copilot/hooks/cairn.json"
    )
    return (
        Snippet(
            where="Claude Code",
            language="bash",
            text=f"{exports}\nclaude --plugin-dir deploy/plugin",
        ),
        Snippet(where="Copilot CLI", language="bash", text=f"{exports}\n{copied}"),
        Snippet(
            where="Cline: .clinerules/hooks/UserPromptSubmit, PostToolUse, TaskComplete",
            language="bash",
            text=f"#!/bin/sh\n{exports}\n{script}",
        ),
    )


def _rest(base_url: str, secret: str, project: str) -> tuple[Snippet, ...]:
    head = f'  -H "Authorization: Bearer {secret}" -H "Content-Type: application/json" \\\n'
    add = _json({"project": project, "content": "Deploys need the VPN."}, indent=None)
    find = _json({"project": project, "query": "how do we deploy"}, indent=None)
    return (
        Snippet(
            where="Terminal",
            language="bash",
            text=f"curl {base_url}/api/v1/memories \\\n{head}  -d '{add}'",
        ),
        Snippet(
            where="Terminal",
            language="bash",
            text=f"curl {base_url}/api/v1/search \\\n{head}  -d '{find}'",
        ),
    )


def _json(value: object, *, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent)
