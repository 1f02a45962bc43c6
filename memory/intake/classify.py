"""What an accepted candidate is: type, governance, structure, files, modules, entities.

A given type is believed. Else the form of the text tells it where it surely does: numbered steps
are a recipe (right in 1.00 of 15), an order at its start is a requirement (.95 of 20), a block of
shell a tool (.84 of 56); all else is a fact. Of 40 expressions that looked for words such as
“decided” or “see”, those that fired often enough to be judged were right in .07 to .74 of 691
statements of public repositories; the form alone is right in .57 of all, with the words it was .49
(tests/bench/bench_foreign). Nothing here calls a model.
"""

import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from memory import taxonomy
from memory.entities import rules as entities_rules
from memory.entities.names import Name, names_of
from memory.entities.rules import WRITTEN_DATES, EntityKind, EntitySpan
from memory.text import passages
from memory.text import text as texts

LEDGER_LINES = 2  # key-value lines
_GENERIC_FOLDERS = frozenset(
    {"src", "lib", "app", "apps", "source", "packages", "test", "tests", "__tests__", "spec"}
)


class TypeBasis(StrEnum):
    """Why a memory has its type."""

    GIVEN = "given"
    FORM = "form"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """Everything classification derives from a content, ready to be stored."""

    type: taxonomy.MemoryType
    type_basis: TypeBasis
    governance: taxonomy.Governance
    structure: taxonomy.Structure
    files: tuple[str, ...]
    modules: tuple[str, ...]
    names: tuple[Name, ...]
    citation: str


_KEY_VALUE = re.compile(
    r"^[ \t]*(?:[-*] )?[\w][\w .-]{0,40}(?::[ \t]|[ \t]*=[ \t]*)\S", re.MULTILINE
)
_PARENT = re.compile(
    r"^[ \t]*(?:[-*] )?(?:parent|is[_ ]a|subclass of|extends|child of|kind of)(?::| )[ \t]*\S",
    re.MULTILINE | re.IGNORECASE,
)
_DATE = re.compile(rf"(?<!\d)\d{{4}}-\d{{2}}-\d{{2}}(?!\d)|{'|'.join(WRITTEN_DATES)}")
_BULLETS = re.compile(r"^[ \t]*[-*+] .+\n(?:.*\n)?[ \t]{2,}[-*+] ", re.MULTILINE)
_STEP = re.compile(r"^[ \t]*1[.)] ", re.MULTILINE)
_ORDER = re.compile(
    r"\A(?:never|always|do not|don.t|ensure|make sure|keep|follow)\b", re.IGNORECASE
)
_COMMAND = (
    r"(?:\$ )?(?:make|npm|npx|pnpm|yarn|bun|uv|uvx|pip|pipx|python3?|pytest|poetry|hatch|nox|tox"
    r"|ruff|mypy|docker|git|gh|cargo|go|just|claude|curl|brew|apt(?:-get)?|kubectl|helm|terraform"
    r"|\./\w|manage\.py|django-admin|celery|redis-cli|psql)\b"
)
_SHELL = re.compile(rf"```(?:sh|bash|shell|zsh|console|powershell)\n|```\w*\n{_COMMAND}")
_FILE_NAME = re.compile(
    r"[\w@.-]*\.[A-Za-z]\w{0,7}|\.\w[\w-]*"
    r"|(?:Make|Docker|Proc|Gem|Rake|Just|Jenkins|Vagrant)file|CODEOWNERS|LICENSE|README"
)
_CODE_SPAN = re.compile(r"`[^`\n]*`")


def classify(
    *,
    content: str,
    type: taxonomy.MemoryType | None,
    tags: tuple[str, ...],
    files: tuple[str, ...],
    modules: tuple[str, ...],
    pinned: bool,
    document: str = "",
) -> Classification:
    """Classify a candidate; given files and modules come first, those named in the text follow.

    `document` is the path of the document that says it, from which its links lead.
    """
    visible = texts.visible_text(text=content)
    found = entities_rules.find_entities(text=visible)
    chosen, basis = (type, TypeBasis.GIVEN) if type is not None else type_of(content=visible)
    all_files = tuple(dict.fromkeys((*files, *_files_of(found, document))))
    from_files = tuple(module for path in all_files if (module := module_of(path=path)))
    return Classification(
        type=chosen,
        type_basis=basis,
        governance=taxonomy.governance_of(type=chosen, tags=tags, pinned=pinned),
        structure=structure_of(content=visible),
        files=all_files,
        modules=tuple(dict.fromkeys((*modules, *from_files))),
        names=names_of(spans=found),
        citation=texts.citation_text(content=content),
    )


def named_files(*, text: str, document: str = "") -> tuple[str, ...]:
    """Return the files of the project that a text names, as paths from its root.

    A path that begins with a dot leads from the document. What has no file's ending, such as
    `input/output` or a route, and what lies outside of the project is no file of it.
    """
    found = entities_rules.find_entities(text=texts.visible_text(text=text))
    return _files_of(found, document)


def _files_of(spans: tuple[EntitySpan, ...], document: str) -> tuple[str, ...]:
    files: dict[str, None] = {}
    for span in spans:
        path = span.text
        if span.kind is not EntityKind.PATH or path.startswith(("/", "~")):
            continue
        if path.startswith(("./", "../")):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(document), path))
        if not path.startswith("..") and _FILE_NAME.fullmatch(posixpath.basename(path)):
            files[path] = None
    return tuple(files)


def type_of(*, content: str) -> tuple[taxonomy.MemoryType, TypeBasis]:
    """Tell the type by the form of a text: steps, an order, a block of shell; else a fact."""
    if _STEP.search(content) and any(
        one.kind is passages.PassageKind.STEPS for one in passages.read(text=content)
    ):
        return taxonomy.MemoryType.WORKFLOW_RECIPE, TypeBasis.FORM
    if _ORDER.match(_CODE_SPAN.sub("`", content)):
        return taxonomy.MemoryType.REQUIREMENT, TypeBasis.FORM
    if _SHELL.search(content):
        return taxonomy.MemoryType.TOOL, TypeBasis.FORM
    return taxonomy.MemoryType.FACT, TypeBasis.DEFAULT


def structure_of(*, content: str) -> taxonomy.Structure:
    """Detect how a text is built: parents, values, a date, nested bullets; else narrative."""
    if len(_PARENT.findall(content)) >= LEDGER_LINES:
        return taxonomy.Structure.TAXONOMY
    if len(_KEY_VALUE.findall(content)) >= LEDGER_LINES:
        return taxonomy.Structure.LEDGER
    if _DATE.search(content):
        return taxonomy.Structure.TIMELINE
    return taxonomy.Structure.TAXONOMY if _BULLETS.search(content) else taxonomy.Structure.NARRATIVE


def module_of(*, path: str) -> str:
    """Name the module of a file: its nearest folder that is not a generic one; empty if none is."""
    folders = PurePosixPath(path).parent.parts
    telling = [name for name in folders if name.strip("./~") and name not in _GENERIC_FOLDERS]
    return telling[-1] if telling else ""
