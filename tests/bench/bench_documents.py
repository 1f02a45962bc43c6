"""Documents of public repositories: are changed statements recognized, are named files real ones.

    python -m tests.bench.bench_documents CLONES [pairs]

CLONES is a folder with bare clones of public repositories (`owner+name/repo`, or the clone itself).
No labels are needed. *Changed lines*: of commits that change exactly one line of a Markdown
document (one removed, one added), how many lead to one memory with new words; the rest would be
stored beside the old one. *Files*: of the files that statements would carry, how many are in the
repository at that commit, and how many of those named are carried. With `pairs`, fifty of the
pairs found in larger commits are printed, for somebody to say whether both are the same statement.
"""

import posixpath
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from config.demo import is_document
from memory.documents.markdown_notes import Statement, read_document
from memory.documents.statement_changes import PlacedStatement, find_replaced
from memory.intake import classify
from memory.text.text import visible_text

COMMITS = 400  # of one repository, the newest that change documents
SHOWN = 50
SEED = 17
_PATH = re.compile(r"[\w@.-]*(?:/[\w@.-]+)+|[\w-]+(?:\.[\w-]+)+")


def main(*, clones: Path, with_pairs: bool) -> None:
    """Print the figures of each repository, and of all."""
    single, files = Counter[str](), Counter[str]()
    pairs: list[tuple[str, str]] = []
    for directory in sorted(_directories(clones)):
        of_one, others = _changed_lines(directory)
        print(directory.parent.name, dict(of_one))
        single += of_one
        pairs += others
        files += _named_files(directory)
    print("commits that change one line:", dict(single))
    print("files that statements carry:", dict(files))
    if with_pairs:
        for old, new in random.Random(SEED).sample(pairs, min(SHOWN, len(pairs))):
            print(f"\n- {old}\n+ {new}")


def _changed_lines(directory: Path) -> tuple[Counter[str], list[tuple[str, str]]]:
    """Count what one-line changes lead to; return the pairs that larger ones lead to."""
    counts, pairs = Counter[str](), list[tuple[str, str]]()
    for commit, path, added, removed in _changes(directory):
        before = read_document(text=_git(directory, "show", f"{commit}^:{path}"), path=path)
        after = read_document(text=_git(directory, "show", f"{commit}:{path}"), path=path)
        gone = {one.external_id: one.content for one in before}
        new = {one.external_id: one.content for one in after}
        replaced = find_replaced(before=_placed(before), after=_placed(after))
        if (added, removed) != (1, 1):
            pairs += [(gone[old], new[id]) for id, old in replaced.items()]
        elif gone.keys() ^ new.keys():
            is_one = len(gone.keys() - new.keys()) == len(new.keys() - gone.keys()) == 1
            kind = "one statement" if is_one else "several statements"
            counts[f"{kind}, {'updated' if replaced else 'beside'}"] += 1
    return counts, pairs


def _named_files(directory: Path) -> Counter[str]:
    """Count the files that the statements of a repository would carry, and those in it."""
    tree = frozenset(_git(directory, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    counts = Counter[str]()
    for path in filter(lambda one: is_document(path=one), sorted(tree)):
        for one in read_document(text=_git(directory, "show", f"HEAD:{path}"), path=path):
            carried = classify.named_files(text=one.content, document=path)
            named = {
                resolved
                for match in _PATH.finditer(visible_text(text=one.content))
                for resolved in (match.group(), _below(path, match.group()))
                if resolved in tree
            }
            there = {file for file in carried if _is_there(file, tree)}
            counts += Counter(
                carried=len(carried), there=len(there), named=len(named), found=len(named & there)
            )
    return counts


def _is_there(file: str, tree: frozenset[str]) -> bool:
    return file in tree or any(path.endswith(f"/{file}") for path in tree)


def _below(document: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), path))


def _placed(statements: tuple[Statement, ...]) -> list[PlacedStatement]:
    return [PlacedStatement(one.external_id, one.content) for one in statements]


def _changes(directory: Path) -> Iterator[tuple[str, str, int, int]]:
    """Yield commit, path, added and removed lines of the newest changes of documents."""
    log = _git(
        directory, "log", f"-{COMMITS}", "--no-merges", "--diff-filter=M", "--numstat",
        "--format=%x00%H", "--", "*.md",
    )  # fmt: skip
    for entry in log.split("\x00")[1:]:
        commit, _, rest = entry.partition("\n")
        for line in filter(None, rest.splitlines()):
            added, removed, path = line.split("\t")
            if added.isdigit() and is_document(path=path):
                yield commit, path, int(added), int(removed)


def _directories(clones: Path) -> Iterator[Path]:
    for folder in clones.iterdir():
        found = (place for place in (folder / "repo", folder) if (place / "HEAD").exists())
        yield from tuple(found)[:1]


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "--git-dir", str(directory), *arguments], capture_output=True, check=False
    )
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(clones=Path(sys.argv[1]), with_pairs="pairs" in sys.argv[2:])
