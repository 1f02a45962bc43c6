"""Files of code that tests read (`tests/support/code`), and what they hold, line by line.

Beside a file, `.expected` tells its symbols, its references and its chunks, with dashes between.
"""

from collections.abc import Iterator
from pathlib import Path

from graph.code.parse import parse
from graph.code.values import Parsed, Reference

FOLDER = Path(__file__).with_name("code")
PATHS = {  # where each lies in its project
    "shop.py": "app/shop.py",
    "shop.js": "app/shop.js",
    "shop.ts": "app/shop.ts",
    "sign.tsx": "app/sign.tsx",
    "shop.go": "shop/shop.go",
    "shop.rs": "src/lib.rs",
}


def read(name: str) -> Parsed:
    """Parse one of the files."""
    return parse(path=PATHS[name], source=(FOLDER / f"{name}.txt").read_bytes())


def told(parsed: Parsed) -> str:
    """Tell what a file holds as its `.expected` does."""
    return "\n".join(
        (
            *(
                f"{one.kind} {one.qualified} {one.first_line}-{one.last_line}"
                for one in parsed.symbols
            ),
            "---",
            *_references(parsed.references),
            "---",
            *(
                f"{one.first_line}-{one.last_line} {one.kind} {one.name}".strip()
                for one in parsed.chunks
            ),
            "",
        )
    )


def _references(references: tuple[Reference, ...]) -> Iterator[str]:
    for one in references:
        taken = f" {one.name or '-'} as {one.local or '-'}" if one.kind == "imports" else ""
        yield f"{one.line} {one.kind} {one.source or '-'}: {one.target}{taken}"
