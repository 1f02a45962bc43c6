"""What Cairn says about itself: its documents, its modules, the reasons of its dependencies.

Nothing is made up for the demo: every statement is read from this installation's own files when the
demo is loaded, and names the file and line it came from.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from config import env
from config.demo import folder
from config.demo.candidates import of_statement
from memory.documents import docstrings, markdown
from memory.records.actions.candidate import NewMemory
from memory.taxonomy import MemoryType, Source

PACKAGES: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
NOT_TOLD: Final = frozenset({"migrations", "tests"})
DEPENDENCIES: Final = "pyproject.toml"
EXAMPLES: Final = frozenset({  # pages made of sample calls, which are not true of this project
    "README.md", "01-overview.md", "02-quick-start.md", "04-agents.md", "05-query-box.md",
    "07-api-guide.md",
})  # fmt: skip

_REASON = re.compile(r'^\s*"(?P<package>[\w.\[\],-]+)==(?P<version>[\w.]+)",\s*#\s*(?P<reason>.+)$')


def candidates(*, project: str) -> tuple[NewMemory, ...]:
    """Return every statement of this installation as a candidate for a project."""
    return (
        *_documents(project),
        *_modules(project),
        *_dependencies(project),
    )


def _documents(project: str) -> Iterator[NewMemory]:
    for document in folder.documents(folder=env.ROOT):
        if Path(document.path).name in EXAMPLES:
            continue
        tag = folder.tag_of(path=document.path)
        for statement in markdown.read(text=document.text, path=document.path):
            yield of_statement(
                statement=statement, path=document.path, project=project, tags=(tag,)
            )


def _modules(project: str) -> Iterator[NewMemory]:
    for path in sorted(path for name in PACKAGES for path in (env.ROOT / name).rglob("*.py")):
        inside = path.relative_to(env.ROOT)
        if not NOT_TOLD.isdisjoint(inside.parts):
            continue
        told = inside.as_posix()
        for statement in docstrings.read(source=_text(path), path=told):
            yield of_statement(
                statement=statement, path=told, project=project, tags=("module",), files=(told,)
            )


def _dependencies(project: str) -> Iterator[NewMemory]:
    lines = _text(env.ROOT / DEPENDENCIES).splitlines()
    for number, line in enumerate(lines, 1):
        found = _REASON.match(line)
        if found is not None:
            yield _dependency(found["package"], found["version"], found["reason"], number, project)


def _dependency(package: str, version: str, reason: str, line: int, project: str) -> NewMemory:
    return NewMemory(
        content=f"Cairn depends on {package} {version}: {reason}",
        type=MemoryType.DECISION.value,
        source=Source.IMPORT.value,
        project=project,
        external_id=f"{DEPENDENCIES}#{package}",
        tags=("dependency",),
        related_files=(DEPENDENCIES,),
        source_uri=DEPENDENCIES,
        source_line=line,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
