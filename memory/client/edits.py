"""What is put into the files of agents, and taken out of them: texts in, texts out (spec 8.3).

A JSON file gets one key, another file a block between two marks. Everything else of the file stays
as it is, putting twice is putting once, and taking out what was put leaves what was there before.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import masking
from .errors import ClientError

_INDENT: Final = re.compile(r"\A\s*\{\n([ \t]+)\"")


class NotEditable(ClientError):
    """The file is not what its name says, so it is left alone."""

    code = "not_editable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A value in a JSON file, by the names that lead to it."""

    names: tuple[str, ...]
    value: object

    def put(self, *, text: str) -> str:
        """Return the file's text with the value. Raises NotEditable."""
        whole = _object(text)
        inner = whole
        for name in self.names[:-1]:
            inner = inner.setdefault(name, {})
            if not isinstance(inner, dict):
                raise NotEditable(detail=f"{name} is no object.", command="cairn init --print-only")
        if inner.get(self.names[-1]) == self.value:
            return text
        inner[self.names[-1]] = self.value
        return _written(whole, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the value, and without what is empty then."""
        whole = _object(text)
        levels = [whole]
        for name in self.names[:-1]:
            inner = levels[-1].get(name)
            if not isinstance(inner, dict):
                return text
            levels.append(inner)
        if levels[-1].pop(self.names[-1], None) is None:
            return text
        for name, outer in zip(reversed(self.names[:-1]), reversed(levels[:-1]), strict=True):
            if not outer[name]:
                del outer[name]
        return _written(whole, text) if whole else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines between two marks; `table` are the names of the TOML table that they are, if any."""

    begin: str
    end: str
    body: str
    table: tuple[str, ...] = ()

    def put(self, *, text: str) -> str:
        """Return the file's text with the block, in its old place or at the end.

        Raises NotEditable where it is to be TOML, and is none before or after.
        """
        if self.table:
            self._check_room(text)
        made = self._put(text)
        if self.table:
            _toml(made)
        return made

    def _check_room(self, text: str) -> None:
        """Raise NotEditable where the table stands outside of the marks."""
        inner: object = _toml(self.take(text=text))
        for name in self.table:
            inner = inner.get(name) if isinstance(inner, Mapping) else None
        if inner is not None:
            raise NotEditable(
                detail=f"[{'.'.join(self.table)}] is there already, outside of our marks.",
                hint="Take it out of the file by hand, then connect again.",
                command="cairn init",
            )

    def _put(self, text: str) -> str:
        block = f"{self.begin}\n{self.body.strip()}\n{self.end}\n"
        found = self._pattern().search(text)
        if found is not None:
            return f"{text[: found.start()]}{block}{text[found.end() :]}"
        between = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{between}{block}"

    def take(self, *, text: str) -> str:
        """Return the file's text without the block."""
        found = self._pattern().search(text)
        if found is None:
            return text
        before = text[: found.start()].removesuffix("\n")
        before = before if before.endswith("\n") or not before else f"{before}\n"
        return f"{before}{text[found.end() :]}"

    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"{re.escape(self.begin)}\n.*?{re.escape(self.end)}\n?", re.DOTALL)


Edit = Key | Block


def diff(*, before: str, after: str, name: str) -> str:
    """Return what changes, as `diff -u` shows it; secrets are not shown."""
    lines = difflib.unified_diff(
        masking.mask(text=before).text.splitlines(),
        masking.mask(text=after).text.splitlines(),
        fromfile=name,
        tofile=name,
        lineterm="",
    )
    return "\n".join(lines)


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        read = json.loads(text)
    except ValueError as error:
        raise NotEditable(
            detail=f"It is no plain JSON: {error}.",
            hint="Add by hand what `cairn init --print-only` shows.",
            command="cairn init --print-only",
        ) from error
    if not isinstance(read, dict):
        raise NotEditable(detail="It holds no JSON object.", command="cairn init --print-only")
    return read


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(
            detail=f"It is no TOML, or has no room for a table: {error}.",
            hint="Mend it by hand, then connect again.",
            command="cairn init --print-only",
        ) from error


def _written(whole: Mapping[str, Any], before: str) -> str:
    found = _INDENT.match(before)
    indent = found[1] if found else "  "
    end = "\n" if before.endswith("\n") or not before else ""
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can name and UTF-8 cannot
        text = json.dumps(whole, indent=indent)
    return text + end
