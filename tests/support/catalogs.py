"""Every text of the sources that a page may show, and what is wrong with its translations.

Templates and `gettext` calls are read by Babel, names from their tables. Of refusals, whatever is
called `detail` or `hint`, the titles of errors, and what `message` is given may stand on a page:
each is a constant, or `message` of one with its values. A text put together where it is raised has
no place in a catalog. What only programs are told, by REST, MCP and the command lines, stays
English and is not read.
Run as `python -m tests.support.catalogs`.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.utils.translation.template import templatize

from config.env import ROOT
from config.translations import LANGUAGES, catalog

SOURCES: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
FOR_PROGRAMS: Final = frozenset(  # folders
    {"api", "client", "config", "evaluation", "management", "mcp"}
)
KEYWORD: Final = re.compile(r"_*(?:\w+_)?(?:detail|hint)\Z", re.IGNORECASE)
BREAKING: Final = re.compile(r" [;:!?»]|« ")  # spaces where French lets no line end
PLACEHOLDER: Final = re.compile(r"%\((\w+)\)[sd]|%[sd]")
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text to translate and where it stands; `plural` is empty when there is none.

    `fault` is what keeps it out of every catalog; a message has its places in braces.
    """

    singular: str
    plural: str = ""
    context: str | None = None
    place: str
    is_message: bool = False
    fault: str = ""


@cache
def texts() -> tuple[Text, ...]:
    """Return every text of the sources once, in the order of files and lines."""
    found: dict[tuple[str | None, str], Text] = {}
    for name in SOURCES:
        for path in sorted((ROOT / name).rglob("*")):
            for text in _of_file(path):
                found.setdefault((text.context, text.singular), text)
    return tuple(found.values())


def check() -> tuple[str, ...]:
    """Return one complaint per text that a language lacks, guesses or mangles."""
    wanted = texts()
    return tuple(
        f"{language}: {complaint}"
        for language in LANGUAGES
        for complaint in complaints(catalog=catalog(language=language), wanted=wanted)
    )


def complaints(*, catalog: Catalog, wanted: tuple[Text, ...]) -> Iterator[str]:
    """Yield one sentence per text that the catalog lacks, guesses or mangles."""
    for text in wanted:
        found = catalog.get(text.singular, text.context)
        forms = _forms(found.string if found else None)
        if text.fault:
            yield f"{text.place}: {text.singular!r} {text.fault}"
        elif found is None or not all(forms):
            yield f"{text.place}: {text.singular!r} is not translated"
        elif found.fuzzy:
            yield f"{text.place}: {text.singular!r} is only guessed (fuzzy)"
        elif not all(_has_same_places(text, form) for form in forms):
            yield f"{text.place}: {text.singular!r} is translated with other placeholders"
        elif any(BREAKING.search(form) for form in forms):
            yield f"{text.place}: {text.singular!r} needs a no-break space before ; : ! ? »"


def is_for_pages(*, path: PurePosixPath) -> bool:
    """Say whether a page may show what this module raises; `path` starts at the root."""
    return path.suffix == ".py" and FOR_PROGRAMS.isdisjoint(path.parts)


def messages_of(*, source: str, path: str) -> Iterator[Text]:
    """Yield the messages of a module."""
    nodes = tuple(ast.walk(ast.parse(source)))
    positions = {  # of the arguments that a module's own functions call detail or hint
        node.name: tuple(i for i, one in enumerate(node.args.args) if KEYWORD.match(one.arg))
        for node in nodes
        if isinstance(node, ast.FunctionDef)
    }
    for node in nodes:
        if isinstance(node, ast.Call):
            if _name(node.func) == "message":
                yield _of_message(node, path)
            for position in positions.get(_name(node.func), ()):
                if position < len(node.args):
                    yield from _of_value(node.args[position], path)
        for value in _messages_of_node(node, path):
            yield from _of_value(value, path)


def _messages_of_node(node: ast.AST, path: str) -> Iterator[ast.expr]:
    """Yield what a node calls a message: arguments, defaults and constants of those names."""
    if isinstance(node, ast.Call):
        yield from (word.value for word in node.keywords if KEYWORD.match(word.arg or ""))
    elif isinstance(node, ast.arguments):
        pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
        yield from (value for one, value in pairs if value and KEYWORD.match(one.arg))
    elif isinstance(node, ast.ClassDef) and path.endswith("errors.py"):
        yield from (word.value for word in node.keywords if word.arg == "title")
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_title = path.endswith("errors.py")
        names = [_name(target) for target in targets]
        if any(KEYWORD.match(name) or (is_title and name == "title") for name in names):
            yield node.value


def _of_value(value: ast.expr, path: str) -> Iterator[Text]:
    """Yield the message of an expression; names and calls are found where they are made."""
    parts: list[ast.expr] = []
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    for part in parts:
        yield from _of_value(part, path)
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
        yield Text(singular=value.value, place=f"{path}:{value.lineno}")
    is_method_of_text = (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and isinstance(value.func.value, ast.Constant | ast.JoinedStr)
    )
    if isinstance(value, ast.JoinedStr | ast.BinOp) or is_method_of_text:
        fault = "is put together where it is raised; use message() with a constant and its values"
        yield Text(singular=ast.unparse(value), place=f"{path}:{value.lineno}", fault=fault)


def _of_message(call: ast.Call, path: str) -> Text:
    template = call.args[0] if call.args else None
    place = f"{path}:{call.lineno}"
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        return Text(singular=ast.unparse(call), place=place, fault="is made of no constant")
    given = {word.arg for word in call.keywords}
    named = {name for name, _, _ in _places(template.value)} if given else set()
    fault = "" if named == given else "is given other values than it has places"
    return Text(singular=template.value, place=place, is_message=bool(given), fault=fault)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _has_same_places(text: Text, translated: str) -> bool:
    """Say whether a translation names the same places, each by its name alone: no `!r`, no `:,`."""
    if not text.is_message:
        offered = {*PLACEHOLDER.findall(text.singular), *PLACEHOLDER.findall(text.plural)}
        return set(PLACEHOLDER.findall(translated)) <= offered
    try:
        places = tuple(_places(translated))
    except ValueError:  # a brace that is not closed
        return False
    is_plain = all(not spec and conversion is None for _, spec, conversion in places)
    wanted = sorted(name for name, _, _ in _places(text.singular))
    return is_plain and wanted == sorted(name for name, _, _ in places)


def _places(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, format and conversion of each place in braces."""
    for _, name, spec, conversion in Formatter().parse(text):
        if name is not None:
            yield name, spec or "", conversion


def _forms(string: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    return (string or "",) if string is None or isinstance(string, str) else tuple(string)


def _of_file(path: Path) -> Iterator[Text]:
    place = path.relative_to(ROOT)
    if path.suffix == ".py":
        source = path.read_text(encoding="utf-8")
        if is_for_pages(path=PurePosixPath(place)):
            yield from messages_of(source=source, path=str(place))
    elif path.suffix in {".html", ".txt"} and "templates" in path.parts:
        lines = templatize(path.read_text(encoding="utf-8"), origin=str(path)).splitlines()
        source = "\n".join(line.lstrip() for line in lines)
    elif path.suffix == ".toml" and place.parts[0] == "frontend":
        for table in tomllib.loads(path.read_text(encoding="utf-8")).values():
            for names in table.values():
                words = [names] if isinstance(names, str) else names
                yield from (Text(singular=word, place=str(place)) for word in words)
        return
    else:
        return
    options: Mapping[str, str] = {"encoding": "utf-8"}
    for line, found, _comments, context in extract(
        "python", BytesIO(source.encode()), KEYWORDS, (), options
    ):
        forms = _forms(found)
        yield Text(
            singular=forms[0],
            plural=forms[1] if len(forms) > 1 else "",
            context=context,
            place=f"{place}:{line}",
        )


def _report(lines: Iterable[str]) -> int:
    found = tuple(lines)
    sys.stderr.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_report(check()))
