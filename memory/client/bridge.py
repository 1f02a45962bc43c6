"""`cairn mcp`: the Model Context Protocol over stdin and stdout, for programs that know no other.

A line in is a message for the server's `/mcp`, a line out is its answer. What has no id
gets no answer. What fails on the way is told as an error of JSON-RPC, so that the program goes on.
"""

import json
from collections.abc import Mapping
from typing import IO, Any, Final, Protocol

import typer

from .errors import ClientError
from .terminal import Desk

PARSE_ERROR: Final = -32_700  # JSON-RPC 2.0
SERVER_ERROR: Final = -32_000  # JSON-RPC 2.0: ours to define


class Speaker(Protocol):
    """What of the client the bridge needs."""

    def speak_mcp(self, *, message: Mapping[str, object]) -> Mapping[str, Any]:
        """Return the server's answer to a message."""


def register(*, app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(context: typer.Context) -> None:
    """Speak MCP over stdin and stdout, for agents that know no HTTP."""
    desk: Desk = context.obj
    stdin = typer.get_text_stream("stdin", encoding="utf-8")
    with desk.client(connection=desk.connection()) as client:
        carry(lines=stdin, out=desk.out, speaker=client)


def carry(*, lines: IO[str], out: IO[str], speaker: Speaker) -> None:
    """Carry messages to the server and answers back until no more come."""
    for line in lines:
        if line.strip():
            answer = _answered(line, speaker)
            if answer is not None:
                out.write(json.dumps(answer) + "\n")
                out.flush()


def _answered(line: str, speaker: Speaker) -> Mapping[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError as error:
        return _error(None, PARSE_ERROR, f"The line is no JSON: {error}")
    if not isinstance(message, dict):
        return _error(None, PARSE_ERROR, "The line is no object.")
    number = message.get("id")
    try:
        told = speaker.speak_mcp(message=message)
    except ClientError as fault:
        return None if number is None else _error(number, SERVER_ERROR, fault.detail)
    return told or None


def _error(number: object, code: int, said: str) -> Mapping[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": said}}
