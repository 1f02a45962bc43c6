"""Catalogs of the pages' languages: extract, check and compile with Babel.

No GNU gettext is needed. `check` fails on every text of the sources that a language lacks, has only
as a guess (fuzzy), or translates with other placeholders, and on every sentence of a refusal that
no catalog can have (`config.sentences`); `compile_all` writes what Django loads.
Run as `python -m config.translations check` or `compile`.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

from config import sentences
from config.env import ROOT

LANGUAGES: Final = ("fr",)
SOURCES: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
LOCALE: Final = ROOT / "frontend" / "locale"
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

    `fault` is what keeps it out of every catalog; a sentence has its places in braces.
    """

    singular: str
    plural: str
    context: str | None
    place: str
    is_sentence: bool = False
    fault: str = ""


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


def compile_all() -> None:
    """Write the compiled catalog of each language, unless it is newer than its source."""
    for language in LANGUAGES:
        source = _path(language)
        target = source.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
            continue
        written = target.with_suffix(f".mo.{os.getpid()}")  # tests compile at once
        with written.open("wb") as file:
            write_mo(file, catalog(language=language))
        written.replace(target)


def complaints(*, catalog: Catalog, wanted: tuple[Text, ...]) -> Iterator[str]:
    """Yield one sentence per text that the catalog lacks, guesses or mangles."""
    for text in wanted:
        message = catalog.get(text.singular, text.context)
        if text.fault:
            yield f"{text.place}: {text.singular!r} {text.fault}"
        elif message is None or not all(_forms(message.string)):
            yield f"{text.place}: {text.singular!r} is not translated"
        elif message.fuzzy:
            yield f"{text.place}: {text.singular!r} is only guessed (fuzzy)"
        elif not all(_same_places(text, form) for form in _forms(message.string)):
            yield f"{text.place}: {text.singular!r} is translated with other placeholders"
        elif any(BREAKING.search(form) for form in _forms(message.string)):
            yield f"{text.place}: {text.singular!r} needs a no-break space before ; : ! ? »"


def catalog(*, language: str) -> Catalog:
    """Return the catalog of a language."""
    with _path(language).open("rb") as file:
        return read_po(file, locale=language)


def main(*, arguments: list[str]) -> int:
    """Run one command of the command line; return its exit code."""
    if arguments == ["compile"]:
        compile_all()
        return 0
    if arguments == ["check"]:
        complaints = check()
        sys.stderr.writelines(f"{line}\n" for line in complaints)
        return 1 if complaints else 0
    sys.stderr.write("Use: python -m config.translations compile | check\n")
    return 2


def _same_places(text: Text, translated: str) -> bool:
    if text.is_sentence:
        return sentences.is_translation(english=text.singular, translated=translated)
    offered = {*PLACEHOLDER.findall(text.singular), *PLACEHOLDER.findall(text.plural)}
    return set(PLACEHOLDER.findall(translated)) <= offered


def _forms(string: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    return (string or "",) if string is None or isinstance(string, str) else tuple(string)


def _of_file(path: Path) -> Iterator[Text]:
    if path.suffix == ".py":
        source = path.read_text(encoding="utf-8")
        yield from _sentences(path, source)
    elif path.suffix in {".html", ".txt"} and "templates" in path.parts:
        lines = templatize(path.read_text(encoding="utf-8"), origin=str(path)).splitlines()
        source = "\n".join(line.lstrip() for line in lines)
    else:
        return
    encoded = BytesIO(source.encode())
    options = {"encoding": "utf-8"}
    for line, message, _comments, context in extract("python", encoded, KEYWORDS, (), options):
        forms = _forms(message)
        yield Text(
            singular=forms[0],
            plural=forms[1] if len(forms) > 1 else "",
            context=context,
            place=f"{path.relative_to(ROOT)}:{line}",
        )


def _sentences(path: Path, source: str) -> Iterator[Text]:
    place = path.relative_to(ROOT)
    if not sentences.is_read(path=PurePosixPath(place)):
        return
    for found in sentences.of_source(source=source, name=path.name):
        yield Text(
            singular=found.text,
            plural="",
            context=None,
            place=f"{place}:{found.line}",
            is_sentence=found.has_places,
            fault=found.fault,
        )


def _path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


if __name__ == "__main__":
    sys.exit(main(arguments=sys.argv[1:]))
