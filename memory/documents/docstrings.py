"""What a Python module says about itself: its docstring as statements.

The first paragraph is what the module is for; the ones after it are read like a document whose
heading is the file. Nothing is executed: the source is parsed.
"""

import ast
import re
from dataclasses import replace

from memory.documents import markdown
from memory.documents.markdown import Statement
from memory.taxonomy import MemoryType
from memory.text import text as texts

_DRAWING = re.compile("[\u2500-\u257f]")


def read(*, source: str, path: str) -> tuple[Statement, ...]:
    """Read the statements of a module's docstring; none when it has none.

    Raises SyntaxError for what is not Python.
    """
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree)
    if not docstring:
        return ()
    start = tree.body[0].lineno
    first, _, rest = docstring.partition("\n\n")
    purpose = _purpose(texts.normalized(text=first), path, start)
    essay = markdown.read(text=f"# {path}\n\n{_with_drawings_fenced(rest)}", path=path)
    offset = start + first.count("\n") - 1
    return (purpose, *(_of_module(statement, offset) for statement in essay))


def _purpose(text: str, path: str, line: int) -> Statement:
    return Statement(
        content=f"{path}: {text}",
        text=text,
        type=MemoryType.MODULE_INSIGHT,
        headings=(path,),
        line=line,
        external_id=markdown.statement_id(path=path, context="purpose", text=""),
    )


def _with_drawings_fenced(text: str) -> str:
    """Fence what is drawn with lines, such as an error tree, so that its layout is kept."""
    return "\n\n".join(
        f"```\n{paragraph}\n```" if _DRAWING.search(paragraph) else paragraph
        for paragraph in text.split("\n\n")
    )


def _of_module(statement: Statement, offset: int) -> Statement:
    is_plain = statement.type is MemoryType.FACT
    return replace(
        statement,
        type=MemoryType.MODULE_INSIGHT if is_plain else statement.type,
        line=statement.line + offset,
    )
