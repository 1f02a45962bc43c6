"""Rules measured on text that their authors neither wrote nor labelled.

    python -m tests.bench.bench_foreign CLONES

CLONES is a folder with clones of the public repositories that `foreign/*.tsv` name, each as
`owner+name` (a work tree, a bare clone, or a folder with one as `repo`). The labels are kept here,
the texts are not: commits are found by their hash, statements by path and the hash of their text.
A rule stays while its precision is at least 0.8; below that its cases go to review or to a model.

Removed by it: the rules for types by words such as “because”, “must” or “see”, first those for
documents, then those for what agents send without a type. On 691 statements the latter were right
for a reference in .42, a requirement in .74, a pattern in .35, a recipe in .70, a tool in .37, an
error pattern in .07, a preference in .43, a gotcha in .36 and .73, a fix in .20; the others fired
fewer than six times. Numbered steps, orders and blocks of shell stayed.
"""

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memory.documents.markdown_notes import read_document
from memory.observer.evidence_texts import of_commit

LABELS = Path(__file__).parent / "foreign"
LEAST_PRECISION = 0.8


def main(clones: Path) -> None:
    """Print how often the rules for commits and for types of statements are right."""
    measure_commits(clones)
    measure_types(clones)


def measure_commits(clones: Path) -> None:
    """Print precision and recall of the rule that says which commits are worth keeping."""
    counted: Counter[tuple[bool, bool]] = Counter()
    for repository, commit, label, _kind in _labels("commits"):
        message = _git(clones, repository, "show", "-s", "--format=%B", commit)
        counted[of_commit(message=message) is not None, label == "yes"] += 1
    chosen = counted[True, True] + counted[True, False]
    wanted = counted[True, True] + counted[False, True]
    print(f"commits: {sum(counted.values())} labelled, {wanted} worth keeping")
    print(
        _line("kept", counted[True, True], chosen) + f", recall {counted[True, True] / wanted:.2f}"
    )


def measure_types(clones: Path) -> None:
    """Print for each type how often a statement that is given it is of it."""
    given: Counter[str] = Counter()
    right: Counter[str] = Counter()
    missing = 0
    for repository, commit, path, digest, _keep, type, other in _labels("statements"):
        found = _types(clones, repository, commit, path).get(digest)
        if found is None:
            missing += 1
            continue
        given[found] += 1
        right[found] += found in (type, other)
    print(f"\ntypes of statements: {sum(given.values())} labelled, {missing} no longer cut so")
    for type, count in given.most_common():
        print(_line(type, right[type], count))
    print(_line("all", sum(right.values()), sum(given.values())))


def _labels(name: str) -> Iterator[list[str]]:
    for line in (LABELS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


@cache
def _types(clones: Path, repository: str, commit: str, path: str) -> dict[str, str]:
    text = _git(clones, repository, "show", f"{commit}:{path}")
    return {
        hashlib.sha256(one.content.encode()).hexdigest()[:16]: one.type.value
        for one in read_document(text=text, path=path)
    }


def _git(clones: Path, repository: str, *arguments: str) -> str:
    folder = clones / repository.replace("/", "+")
    places = (folder / "repo", folder / ".git", folder)
    directory = next(place for place in places if (place / "HEAD").exists())
    done = subprocess.run(
        ["git", "--git-dir", str(directory), *arguments],
        check=True, capture_output=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    return done.stdout


def _line(name: str, right: int, count: int) -> str:
    precision = right / count if count else 0.0
    verdict = "" if precision >= LEAST_PRECISION else "  below the bar"
    return f"  {name:20} precision {precision:.2f} of {count:3}{verdict}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
