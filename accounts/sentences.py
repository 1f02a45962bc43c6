"""Sentences for people that pages can say in another language.

A refusal is written in English where it is raised, by code that knows no language but that one, and
reads as English wherever it goes: in JSON, in a log, in a comparison. A sentence with values in it
keeps its template and its values beside that text, so that a page can look the template up and put
the values in afterwards (`frontend.sentences`). One without values is a constant and needs nothing.
"""

from collections.abc import Mapping

Value = str | int | float | tuple[str, ...]


class Sentence(str):
    """An English text that still knows what it was made of; made by `sentence`."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, Value]


def sentence(template: str, /, **values: Value) -> Sentence:
    """Return the template with its `{places}` filled; a tuple reads as a list with commas.

    A value may be a sentence itself. Raises KeyError for a place without a value.
    """
    shown = {name: _shown(value) for name, value in values.items()}
    made = Sentence(template.format_map(shown) if values else template)
    made.template, made.values = template, values
    return made


def _shown(value: Value) -> str | int | float:
    return ", ".join(value) if isinstance(value, tuple) else value
