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

    def __init__(
        self, detail: str, *, hint: str = "", command: str = "cairn init --print-only"
    ) -> None:
        super().__init__(detail=detail, hint=hint, command=command)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonKey:
    """A value in an object of a JSON file."""

    outer: str
    name: str
    value: object

    def put(self, *, text: str) -> str:
        """Return the file's text with the value. Raises NotEditable."""
        whole = _read_object(text)
        inner = whole.setdefault(self.outer, {})
        if not isinstance(inner, dict):
            raise NotEditable(f"{self.outer} is no object.")
        if inner.get(self.name) == self.value:
            return text
        inner[self.name] = self.value
        return _write_object(whole, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the value, and without what is empty then."""
        whole = _read_object(text)
        inner = whole.get(self.outer)
        if not isinstance(inner, dict) or inner.pop(self.name, None) is None:
            return text
        if not inner:
            del whole[self.outer]
        return _write_object(whole, text) if whole else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBlock:
    """Lines between two marks; `table` are the names of the TOML table that they are, if any."""

    begin: str
    end: str
    body: str
    table: tuple[str, ...] = ()

    def put(self, *, text: str) -> str:
        """Return the file's text with the block, in its old place or at the end.

        Raises NotEditable where it is to be TOML, and is none before or after, or where the table
        stands outside of the marks.
        """
        inner: object = _read_toml(self.take(text=text)) if self.table else None
        for name in self.table:
            inner = inner.get(name) if isinstance(inner, Mapping) else None
        if inner is not None:
            raise NotEditable(
                f"[{'.'.join(self.table)}] is there already, outside of our marks.",
                hint="Take it out of the file by hand, then connect again.",
                command="cairn init",
            )
        block = f"{self.begin}\n{self.body.strip()}\n{self.end}\n"
        found = self._search(text)
        if found is not None:
            made = f"{text[: found.start()]}{block}{text[found.end() :]}"
        else:
            between = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            made = f"{text}{between}{block}"
        if self.table:
            _read_toml(made)
        return made

    def take(self, *, text: str) -> str:
        """Return the file's text without the block."""
        found = self._search(text)
        if found is None:
            return text
        before = text[: found.start()].removesuffix("\n")
        before = before if before.endswith("\n") or not before else f"{before}\n"
        return f"{before}{text[found.end() :]}"

    def _search(self, text: str) -> re.Match[str] | None:
        pattern = rf"{re.escape(self.begin)}\n.*?{re.escape(self.end)}\n?"
        return re.search(pattern, text, re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntries:
    """Entries in the lists of a JSON file, recognized by a mark in them.

    `head` are fields that the file must have, and loses again where nothing else is left.
    """

    name: str
    lists: Mapping[str, tuple[object, ...]]
    mark: str
    head: Mapping[str, object]

    def put(self, *, text: str) -> str:
        """Return the file's text with the entries behind those of others. Raises NotEditable."""
        whole = _read_object(text)
        if self._ours(whole) == {name: list(entries) for name, entries in self.lists.items()}:
            return text
        whole = {**self.head, **self._without_ours(whole)}
        lists = self._lists(whole)
        for name, entries in self.lists.items():
            lists[name] = [*lists.get(name, []), *entries]
        return _write_object({**whole, self.name: lists}, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the entries, and without what is empty then."""
        whole = _read_object(text)
        if not self._ours(whole):
            return text
        left = self._without_ours(whole)
        return _write_object(left, text) if left and left != self.head else ""

    def _lists(self, whole: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return the lists of a file. Raises NotEditable where it has none of that form."""
        lists = whole.get(self.name, {})
        if not isinstance(lists, Mapping):
            raise NotEditable(f"{self.name} is no object.")
        for name, entries in lists.items():
            if not isinstance(entries, list):
                raise NotEditable(f"{name} is no list.")
        return dict(lists)

    def _ours(self, whole: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return what carries the mark, a group with what of it does not alike."""
        lists = self._lists(whole).items()
        ours = {name: [one for one in entries if self._is_marked(one)] for name, entries in lists}
        return {name: entries for name, entries in ours.items() if entries}

    def _without_ours(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        others: dict[str, list[object]] = {}
        for name, entries in self._lists(whole).items():
            left = [kept for one in entries for kept in self._without_marked(one)]
            if left or not entries:
                others[name] = left
        rest = {name: value for name, value in whole.items() if name != self.name}
        return {**rest, self.name: others} if others else rest

    def _without_marked(self, entry: object) -> tuple[object, ...]:
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
class WholeFile:
    """A file of Cairn alone, recognized by a mark in it."""

    content: str
    mark: str

    def put(self, *, text: str) -> str:
        """Return the content. Raises NotEditable for a file of somebody else's."""
        if text.strip() and self.mark not in text:
            raise NotEditable(
                "A file that is not ours stands there.",
                hint="Move it away, then connect again.",
                command="cairn init",
            )
        return self.content

    def take(self, *, text: str) -> str:
        """Return nothing where the file is Cairn's."""
        return "" if self.mark in text else text


FileEdit = JsonKey | MarkedBlock | ListEntries | WholeFile


def diff(*, before: str, after: str, name: str) -> str:
    """Return what changes, as `diff -u` shows it; secrets are not shown."""
    old, new = (masking.mask(text=text).text.splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, fromfile=name, tofile=name, lineterm=""))


def _read_object(text: str) -> dict[str, Any]:
    try:
        whole = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise NotEditable(
            f"It is no plain JSON: {error}.",
            hint="Add by hand what `cairn init --print-only` shows.",
        ) from error
    if not isinstance(whole, dict):
        raise NotEditable("It holds no JSON object.")
    return whole


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(
            f"It is no TOML, or has no room for a table: {error}.",
            hint="Mend it by hand, then connect again.",
        ) from error


def _write_object(whole: Mapping[str, Any], before: str) -> str:
    """Write JSON with the indent and the end that the file had."""
    found = _INDENT.match(before)
    indent = found[1] if found else "  "
    end = "\n" if before.endswith("\n") or not before else ""
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can name and UTF-8 cannot
        text = json.dumps(whole, indent=indent)
    return text + end
