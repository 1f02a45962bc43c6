"""The programs that agents run in, and what each needs in which file."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import hooking
from .configuration import Connection
from .edits import Block, Edit, Key

NAME: Final = "cairn"  # what the server is called in other programs' files
MARKDOWN_MARKS: Final = ("<!-- cairn: begin -->", "<!-- cairn: end -->")
TOML_MARKS: Final = ("# cairn: begin", "# cairn: end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An edit of a file below one's home."""

    file: str
    edit: Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """A program: the folders that betray it, and what it needs."""

    name: str
    title: str
    signs: tuple[str, ...]
    changes: Callable[[Connection], tuple[Change, ...]]

    def is_there(self, *, home: Path) -> bool:
        """Say whether the program was ever run by this person."""
        return any((home / sign).exists() for sign in self.signs)


def rules(*, connection: Connection) -> str:
    """Return what agents are told, so that they use what is connected."""
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
        Change(file=".claude/CLAUDE.md", edit=_told(connection)),
        Change(file=".claude/settings.json", edit=hooking.entries(file="hooks.json")),
        _script(),
    )


def _cursor(connection: Connection) -> tuple[Change, ...]:
    server = {"url": f"{connection.url}/mcp", "headers": _header(connection)}
    return (
        Change(file=".cursor/mcp.json", edit=Key(names=("mcpServers", NAME), value=server)),
        Change(file=".cursor/hooks.json", edit=hooking.entries(file="cursor.json")),
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
        Change(file=".codex/AGENTS.md", edit=_told(connection)),
        Change(file=".codex/hooks.json", edit=hooking.entries(file="codex.json")),
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
        Change(file=".copilot/hooks/cairn.json", edit=hooking.whole(file="copilot.json")),
        _script(),
    )


def _script() -> Change:
    return Change(file=hooking.SCRIPT, edit=hooking.script())


def _told(connection: Connection) -> Block:
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
