"""Messages for people that pages can say in another language.

A refusal is written in English where it is raised, by code that knows no language but that one, and
reads as English wherever it goes: in JSON, in a log, in a comparison. A message with values in it
keeps its template and its values beside that text, so that a page can look the template up and put
the values in afterwards (`frontend.presenters.refusals`). One without values is a constant.

What a job says is read in another process than it was written in. It is kept with its parts, plain
JSON that leads back to the same sentences.
"""

from collections.abc import Mapping
from typing import Any

Value = str | int | float | tuple[str, ...]


class Message(str):
    """An English text that still knows what it was made of; made by `message`."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, Value]


def message(template: str, /, **values: Value) -> Message:
    """Return the template with its `{places}` filled; a tuple reads as a list with commas.

    A value may be a message itself. Raises KeyError for a place without a value.
    """
    return _filled(template, values)


def _filled(template: str, values: Mapping[str, Value]) -> Message:
    texts = {
        name: ", ".join(value) if isinstance(value, tuple) else value
        for name, value in values.items()
    }
    made = Message(template.format_map(texts) if values else template)
    made.template, made.values = template, values
    return made


class MessageList(str):
    """Several sentences one after the other, as a refusal's detail and its hint."""

    __slots__ = ("several",)

    several: tuple[str, ...]


def join_messages(*several: str) -> MessageList:
    """Return sentences as one text that still knows each; empty ones are left out."""
    parts = tuple(one for one in several if one)
    made = MessageList(" ".join(parts))
    made.several = parts
    return made


def to_parts(*, text: str) -> list[dict[str, Any]]:
    """Return what a text is made of, as JSON keeps it."""
    if isinstance(text, MessageList):
        return [part for one in text.several for part in to_parts(text=one)]
    if isinstance(text, Message):
        values = {
            name: to_parts(text=value) if isinstance(value, Message) else value
            for name, value in text.values.items()
        }
        return [{"template": text.template, "values": values}]
    return [{"template": str(text), "values": {}}]


def from_parts(*, parts: Any, text: str) -> str:
    """Return the text that was kept in parts; one that was kept without them is just that."""
    return join_messages(*(_of_part(part) for part in parts)) if parts else text


def _of_part(part: Mapping[str, Any]) -> str:
    values = {name: _value(one) for name, one in part["values"].items()}
    return _filled(part["template"], values) if values else str(part["template"])


def _value(value: Any) -> Value:
    """Return a value as it was given: a list of parts was a message, any other list a tuple."""
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    if value and isinstance(value[0], dict):
        return _of_part(value[0])
    return tuple(str(one) for one in value)
