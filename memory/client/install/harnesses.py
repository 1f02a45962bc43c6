"""The programs that agents run in, and what each needs in which file.

Hooks come from the files of the plugin. They run one script, below the person's home, that reads
address and token from where `cairn login` stores them: so no hook holds a secret, and a new login
needs no new hook. The text of a hook stays the same across versions, since some programs ask anew
about each that has changed.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..configuration import Connection
from ..errors import ClientError
from .edits import Block, Edit, Entries, Key, Whole

NAME: Final = "cairn"  # what the server is called in other programs' files
MARKDOWN_MARKS: Final = ("<!-- cairn: begin -->", "<!-- cairn: end -->")
TOML_MARKS: Final = ("# cairn: begin", "# cairn: end")
PLUGIN_FOLDER: Final = ".cairn/plugin"  # below one's home
SCRIPT: Final = f"{PLUGIN_FOLDER}/bin/hook.sh"
_MARK: Final = SCRIPT  # stands in every command that runs it
_SCRIPT_MARK: Final = "# Tell Cairn what an agent does"
_ROOTS: Final = ("${CLAUDE_PLUGIN_ROOT}", "${CURSOR_PLUGIN_ROOT}", "${PLUGIN_ROOT}")
_INSTALLED: Final = Path(__file__).parents[1] / "plugin"
_CHECKOUT: Final = Path(__file__).parents[3] / "deploy" / "plugin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An edit of a file below one's home."""

    file: str
    edit: Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """A program: the folders by which it is recognized, and what it needs."""

    name: str
    title: str
    signs: tuple[str, ...]
    changes: Callable[[Connection], tuple[Change, ...]]

    def is_there(self, *, home: Path) -> bool:
        """Say whether the program was ever run by this person."""
        return any((home / sign).exists() for sign in self.signs)


def rules(*, connection: Connection) -> str:
    """Return the rules for agents, so that they use what is connected."""
    where = f' (project "{connection.project}")' if connection.project else ""
    return (
        f"Before a task, search Cairn{where} for what is known about it. After learning something\n"
        "that the next session needs (a decision, a trap, a fix, a dead end), store it as one\n"
        "sentence with its reason."
    )


def _header(connection: Connection) -> dict[str, str]:
    return {"Authorization": f"Bearer {connection.token}"}


def _claude_code(connection: Connection) -> tuple[Change, ...]:
    server = {"type": "http", "url": f"{connection.url}/mcp", "headers": _header(connection)}
    return (
        Change(file=".claude.json", edit=Key(names=("mcpServers", NAME), value=server)),
        Change(file=".claude/CLAUDE.md", edit=_rules(connection)),
        Change(file=".claude/settings.json", edit=_hooks("hooks.json")),
        _script(),
    )


def _cursor(connection: Connection) -> tuple[Change, ...]:
    server = {"url": f"{connection.url}/mcp", "headers": _header(connection)}
    return (
        Change(file=".cursor/mcp.json", edit=Key(names=("mcpServers", NAME), value=server)),
        Change(file=".cursor/hooks.json", edit=_hooks("cursor.json")),
        _script(),
    )


def _codex(connection: Connection) -> tuple[Change, ...]:
    header = json.dumps(_header(connection)["Authorization"])
    body = (
        f"[mcp_servers.{NAME}]\n"
        f"url = {json.dumps(f'{connection.url}/mcp')}\n"
        f"http_headers = {{ Authorization = {header} }}"
    )
    begin, end = TOML_MARKS
    block = Block(begin=begin, end=end, body=body, table=("mcp_servers", NAME))
    return (
        Change(file=".codex/config.toml", edit=block),
        Change(file=".codex/AGENTS.md", edit=_rules(connection)),
        Change(file=".codex/hooks.json", edit=_hooks("codex.json")),
        _script(),
    )


def _copilot(connection: Connection) -> tuple[Change, ...]:
    server = {
        "type": "http",
        "url": f"{connection.url}/mcp",
        "headers": _header(connection),
        "tools": ["*"],
    }
    return (
        Change(file=".copilot/mcp-config.json", edit=Key(names=("mcpServers", NAME), value=server)),
        Change(file=".copilot/hooks/cairn.json", edit=_hook_file("copilot.json")),
        _script(),
    )


def _script() -> Change:
    return Change(file=SCRIPT, edit=Whole(content=_text("bin/hook.sh"), mark=_SCRIPT_MARK))


def _hooks(file: str) -> Entries:
    """Return the hooks that a file of the plugin names, as entries of a program's own file."""
    plugin = _plugin_file(file)
    hooks = {event: tuple(groups) for event, groups in plugin["hooks"].items()}
    head = {"version": plugin["version"]} if "version" in plugin else {}
    return Entries(name="hooks", lists=hooks, mark=_MARK, head=head)


def _hook_file(file: str) -> Whole:
    """Return a file of the plugin, for a program that reads a file of Cairn's own."""
    return Whole(content=json.dumps(_plugin_file(file), indent=2) + "\n", mark=_MARK)


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


def _rules(connection: Connection) -> Block:
    begin, end = MARKDOWN_MARKS
    return Block(begin=begin, end=end, body=rules(connection=connection))


HARNESSES: Final[Mapping[str, Harness]] = {
    "claude-code": Harness(
        name="claude-code",
        title="Claude Code",
        signs=(".claude", ".claude.json"),
        changes=_claude_code,
    ),
    "cursor": Harness(name="cursor", title="Cursor", signs=(".cursor",), changes=_cursor),
    "codex": Harness(name="codex", title="Codex", signs=(".codex",), changes=_codex),
    "copilot": Harness(name="copilot", title="Copilot CLI", signs=(".copilot",), changes=_copilot),
}
