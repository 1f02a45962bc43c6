"""Reading code: files a minute on one core, and one changed file.

Run: `.venv/bin/python -m tests.bench.bench_index FOLDER…`; without, the product's own tree.
Figures are processor time of one core, but for the guarded one, which is by the clock. Writing to
the database is not in them.
"""

import sys
import time
from pathlib import Path

from graph.code.languages import language_of
from graph.code.parse import parse
from graph.code.resolve import resolve
from graph.code.values import Parsed
from graph.index import parser_process
from tests.bench import measures

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {".venv", ".git", "node_modules", "var"}
GOAL = 2_000  # files a minute


def main(*, folder: Path) -> None:
    """Read all files of a folder, each way."""
    sources = dict(_sources(folder))
    size = sum(map(len, sources.values())) / 1e6
    print(f"\n{folder}: {len(sources):,} files, {size:.1f} MB")
    parsed, seconds = measures.spent(
        lambda: {p: parse(path=p, source=s) for p, s in sources.items()}
    )
    _tell("parse", len(sources), seconds)
    _contents(parsed)
    started = time.perf_counter()
    for path, content in sources.items():
        parser_process.PARSER.parse(path=path, content=content)
    _tell("parse, guarded, by the clock", len(sources), time.perf_counter() - started)
    edges, resolving = measures.spent(lambda: resolve(files=parsed))
    measures.line("resolve", f"{len(edges):,} edges, {resolving:.2f} s")
    _tell("parse and resolve", len(sources), seconds + resolving)
    _one_file(sources)


def _one_file(sources: dict[str, bytes]) -> None:
    path = sorted(sources, key=lambda one: len(sources[one]))[len(sources) * 9 // 10]
    _, reading = measures.spent(lambda: parse(path=path, source=sources[path] + b"\n"))
    measures.line(f"one changed file ({len(sources[path]):,} bytes)", f"{reading * 1000:.1f} ms")


def _contents(parsed: dict[str, Parsed]) -> None:
    symbols = sum(len(one.symbols) for one in parsed.values())
    references = sum(len(one.references) for one in parsed.values())
    measures.line("found", f"{symbols:,} symbols, {references:,} references")


def _sources(folder: Path) -> list[tuple[str, bytes]]:
    found = (path.relative_to(folder) for path in sorted(folder.rglob("*")))
    return [
        (path.as_posix(), (folder / path).read_bytes())
        for path in found
        if not SKIPPED & {*path.parts}
        and language_of(path=path.as_posix()) is not None
        and (folder / path).is_file()
    ]


def _tell(name: str, files: int, seconds: float) -> None:
    measures.line(name, f"{files / seconds * 60:,.0f} files a minute (goal {GOAL:,})")


if __name__ == "__main__":
    for given in sys.argv[1:] or [str(ROOT)]:
        main(folder=Path(given))
