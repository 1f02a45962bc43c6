"""Edits of the files of agents' programs: texts in, texts out.

A JSON file gets one key, or entries in its lists, another file a block between two marks. All else
of the file stays as it is; putting twice is putting once, and removing what was put leaves what was
there before.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import masking
from ..errors import ClientError

_INDENT: Final = re.compile(r"\A\s*\{\n([ \t]+)\"")


class NotEditable(ClientError):
    """The file is not in the format of its name, so it is left alone."""

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
        block = f"{self.begin}\n{self.body.strip()}\n{self.end}\n"
        found = self._pattern().search(text)
        if found is not None:
            made = f"{text[: found.start()]}{block}{text[found.end() :]}"
        else:
            between = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            made = f"{text}{between}{block}"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Entries in the lists of a JSON file, recognized by a mark in them.

    `head` are fields that the file must have, and loses again where nothing else is left.
    """

    name: str
    lists: Mapping[str, tuple[object, ...]]
    mark: str
    head: Mapping[str, object]

    def put(self, *, text: str) -> str:
        """Return the file's text with the entries behind those of others. Raises NotEditable."""
        whole = _object(text)
        if self._ours(whole) == {name: list(entries) for name, entries in self.lists.items()}:
            return text
        whole = {**self.head, **self._without(whole)}
        outer = dict(_inner(whole, self.name))
        for name, entries in self.lists.items():
            outer[name] = [*_entries(outer, name), *entries]
        return _written({**whole, self.name: outer}, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the entries, and without what is empty then."""
        whole = _object(text)
        if not self._ours(whole):
            return text
        left = self._without(whole)
        return "" if left == self.head else _written(left, text) if left else ""

    def _ours(self, whole: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return what carries the mark, a group with what of it does not alike."""
        outer = _inner(whole, self.name)
        found = {name: list(filter(self._is_marked, _entries(outer, name))) for name in outer}
        return {name: entries for name, entries in found.items() if entries}

    def _without(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        outer = _inner(whole, self.name)
        kept = {
            name: [left for one in _entries(outer, name) for left in self._left(one)]
            for name in outer
        }
        others = {name: entries for name, entries in kept.items() if entries or not outer[name]}
        rest = {name: value for name, value in whole.items() if name != self.name}
        return {**rest, self.name: others} if others else rest

    def _left(self, entry: object) -> tuple[object, ...]:
        """Return what is left of an entry: of a group the hooks of others that stand in it."""
        if not self._is_marked(entry):
            return (entry,)
        inner = entry.get(self.name) if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(inner, list):
            return ()
        others = [one for one in inner if not self._is_marked(one)]
        return ({**entry, self.name: others},) if others else ()

    def _is_marked(self, entry: object) -> bool:
        return self.mark in json.dumps(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A file of Cairn alone, recognized by a mark in it."""

    content: str
    mark: str

    def put(self, *, text: str) -> str:
        """Return the content. Raises NotEditable for a file of somebody else's."""
        if text.strip() and self.mark not in text:
            raise NotEditable(
                detail="A file that is not ours stands there.",
                hint="Move it away, then connect again.",
                command="cairn init",
            )
        return self.content

    def take(self, *, text: str) -> str:
        """Return nothing where the file is Cairn's."""
        return "" if self.mark in text else text


Edit = Key | Block | Entries | Whole


def diff(*, before: str, after: str, name: str) -> str:
    """Return what changes, as `diff -u` shows it; secrets are not shown."""
    lines = difflib.unified_diff(
        shown(text=before).splitlines(),
        shown(text=after).splitlines(),
        fromfile=name,
        tofile=name,
        lineterm="",
    )
    return "\n".join(lines)


def shown(*, text: str) -> str:
    """Return a text that may be shown: secrets are not."""
    return masking.mask(text=text).text


def _inner(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = whole.get(name, {})
    if not isinstance(inner, Mapping):
        raise NotEditable(detail=f"{name} is no object.", command="cairn init --print-only")
    return inner


def _entries(outer: Mapping[str, Any], name: str) -> list[object]:
    entries = outer.get(name, [])
    if not isinstance(entries, list):
        raise NotEditable(detail=f"{name} is no list.", command="cairn init --print-only")
    return entries


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
