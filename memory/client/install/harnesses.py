"""The programs that agents run in, and what each needs in which file.

Hooks come from the files of the plugin. They run one script, below the person's home, that reads
address and token from where `cairn login` stores them: so no hook holds a secret, and a new login
needs no new hook. The text of a hook stays the same across versions, since some programs ask anew
about each that has changed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..configuration import Connection
from ..errors import ClientError
from .file_edits import FileEdit, JsonKey, ListEntries, MarkedBlock, WholeFile

HARNESSES: Final[Mapping[str, tuple[str, ...]]] = {  # what is below the home of who uses them
    "claude-code": (".claude", ".claude.json"),
    "cursor": (".cursor",),
    "codex": (".codex",),
    "copilot": (".copilot",),
}
NAME: Final = "cairn"  # what the server is called in other programs' files
SERVERS: Final = "mcpServers"  # where they name servers
PLUGIN_FOLDER: Final = ".cairn/plugin"  # below one's home
SCRIPT: Final = f"{PLUGIN_FOLDER}/bin/hook.sh"  # stands in every command that runs it
_SCRIPT_MARK: Final = "# Tell Cairn what an agent does"
_ROOTS: Final = ("${CLAUDE_PLUGIN_ROOT}", "${CURSOR_PLUGIN_ROOT}", "${PLUGIN_ROOT}")
_INSTALLED: Final = Path(__file__).parents[1] / "plugin"
_CHECKOUT: Final = Path(__file__).parents[3] / "deploy" / "plugin"


def is_there(*, harness: str, home: Path) -> bool:
    """Say whether a program was ever run by this person."""
    return any((home / sign).exists() for sign in HARNESSES[harness])


def edits_of(*, connection: Connection) -> Mapping[str, Mapping[str, FileEdit]]:
    """Return what each program needs, by its files below one's home."""
    authorization = f"Bearer {connection.token}"
    url, headers = f"{connection.url}/mcp", {"Authorization": authorization}
    server = {"url": url, "headers": headers}
    typed = {"type": "http", **server}
    table = (
        f"[mcp_servers.{NAME}]\n"
        f"url = {json.dumps(url)}\n"
        f"http_headers = {{ Authorization = {json.dumps(authorization)} }}"
    )
    codex = MarkedBlock(
        begin="# cairn: begin", end="# cairn: end", body=table, table=("mcp_servers", NAME)
    )
    where = f' (project "{connection.project}")' if connection.project else ""
    rules = MarkedBlock(
        begin="<!-- cairn: begin -->",
        end="<!-- cairn: end -->",
        body=f"Before a task, search Cairn{where} for what is known about it. After learning "
        "something\nthat the next session needs (a decision, a trap, a fix, a dead end), store it "
        "as one\nsentence with its reason.",
    )
    script = {SCRIPT: WholeFile(content=_text("bin/hook.sh"), mark=_SCRIPT_MARK)}
    copilot = json.dumps(_plugin_file("copilot.json"), indent=2) + "\n"
    return {
        "claude-code": {
            ".claude.json": JsonKey(outer=SERVERS, name=NAME, value=typed),
            ".claude/CLAUDE.md": rules,
            ".claude/settings.json": _hooks("hooks.json"),
            **script,
        },
        "cursor": {
            ".cursor/mcp.json": JsonKey(outer=SERVERS, name=NAME, value=server),
            ".cursor/hooks.json": _hooks("cursor.json"),
            **script,
        },
        "codex": {
            ".codex/config.toml": codex,
            ".codex/AGENTS.md": rules,
            ".codex/hooks.json": _hooks("codex.json"),
            **script,
        },
        "copilot": {
            ".copilot/mcp-config.json": JsonKey(
                outer=SERVERS, name=NAME, value={**typed, "tools": ["*"]}
            ),
            ".copilot/hooks/cairn.json": WholeFile(content=copilot, mark=SCRIPT),
            **script,
        },
    }


def _hooks(file: str) -> ListEntries:
    """Return the hooks that a file of the plugin names, as entries of a program's own file."""
    plugin = _plugin_file(file)
    hooks = {event: tuple(groups) for event, groups in plugin["hooks"].items()}
    head = {"version": plugin["version"]} if "version" in plugin else {}
    return ListEntries(name="hooks", lists=hooks, mark=SCRIPT, head=head)


def _plugin_file(file: str) -> Mapping[str, Any]:
    text = _text(f"hooks/{file}")
    for root in _ROOTS:
        text = text.replace(root, f"$HOME/{PLUGIN_FOLDER}")
    return dict(json.loads(text))


def _text(name: str) -> str:
    for folder in (_INSTALLED, _CHECKOUT):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise ClientError(
        detail=f"{name} of the plugin is not where this program is.",
        hint="Install it anew.",
        command="uv tool install --reinstall ./deploy/client",
    )
