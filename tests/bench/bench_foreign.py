"""Rules measured on text that their authors neither wrote nor labelled.

    python -m tests.bench.bench_foreign CLONES [TRANSCRIPTS]

CLONES is a folder with clones of the public repositories that `foreign/*.tsv` name, each as
`owner+name` (a work tree, a bare clone, or a folder with one as `repo`). The labels are kept here,
the texts are not: commits are found by their hash, statements by path and the hash of their text.
TRANSCRIPTS is a folder of packed transcripts of Claude Code, whose labels else are left out.
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
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memory.documents.markdown_notes import read_document
from memory.entities.rules import find_entities
from memory.extraction.chatter import is_talk
from memory.extraction.extract import Candidate, extract
from memory.extraction.model_answers import is_worth_asking
from memory.observer import detect
from memory.observer.evidence_texts import of_commit
from memory.sessions import tools
from memory.sessions.events import Arguments, Event, EventKind
from memory.sessions.turns import Speaker, own_words
from memory.text import passages
from tests.bench import foreign_conversations
from tests.bench.foreign_conversations import Conversation, history_session, transcript_sessions

LABELS = Path(__file__).parent / "foreign"
LEAST_PRECISION = 0.8


def main(clones: Path, transcripts: Path | None) -> None:
    """Print how often each rule is right."""
    measure_commits(clones)
    measure_types(clones)
    measure_sentences(clones)
    measure_turns(clones)
    measure_commands(clones)
    measure_spans(clones)
    measure_passages(clones)
    measure_observations(clones, transcripts)


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


def measure_sentences(clones: Path) -> None:
    """Print how often a sentence taken for talk is talk, and one that was taken is worth it."""
    talk: Counter[tuple[bool, bool]] = Counter()
    taken: Counter[bool] = Counter()
    for repository, commit, path, turn, digest, question, label in _labels("sentences"):
        told = _conversation(clones, repository, commit, path)
        spoken = next((one for one in told.turns if one.sequence == int(turn)), None)
        if spoken is None:
            continue
        if question == "keep":
            if digest in {_digest(one.content) for one in _extracted(told)}:
                taken[label == "yes"] += 1
            continue
        is_agent = spoken.speaker is Speaker.ASSISTANT
        for sentence in own_words(turn=spoken):
            if _digest(sentence.text) == digest:
                talk[is_talk(text=sentence.text, is_agent=is_agent), label == "yes"] += 1
                break
    called = talk[True, True] + talk[True, False]
    recall = talk[True, True] / (talk[True, True] + talk[False, True])
    print("\nsentences of conversations")
    print(_line("talk", talk[True, True], called) + f", recall {recall:.2f}")
    print(_line("taken by words", taken[True], taken.total()) + "  (they wait for review)")


def measure_turns(clones: Path) -> None:
    """Print how many turns a model is asked about, and how many worth it are missed."""
    counted: Counter[tuple[bool, bool]] = Counter()
    for repository, commit, path, turn, label in _labels("turns"):
        told = _conversation(clones, repository, commit, path)
        spoken = next(one for one in told.turns if one.sequence == int(turn))
        counted[is_worth_asking(turn=spoken), label == "yes"] += 1
    asked = counted[True, True] + counted[True, False]
    worth = counted[True, True] + counted[False, True]
    print(f"\nturns: asked about {asked} of {counted.total()}, "
          f"missed {counted[False, True]} of {worth} worth it")  # fmt: skip


def measure_commands(clones: Path) -> None:
    """Print how often a command that taints a session shows what is not the repository's."""
    counted: Counter[tuple[bool, bool]] = Counter()
    for repository, commit, path, digest, label in _labels("commands"):
        text = _git(clones, repository, "show", f"{commit}:{path}")
        root = foreign_conversations.root_of(repository=repository, text=text)
        told = _conversation(clones, repository, commit, path)
        command = next(one for one in told.commands if _digest(one) == digest)
        event = Event(
            sequence=1, kind=EventKind.TOOL_CALL, name="Bash", arguments=Arguments(command=command)
        )
        counted[bool(tools.read(event=event, root=root).taint), label == "yes"] += 1
    flagged = counted[True, True] + counted[True, False]
    print("\ncommands of agents")
    print(_line("external content", counted[True, True], flagged)
          + f", missed {counted[False, True]} of {counted[False, True] + counted[False, False]}"
          " without taint")  # fmt: skip


def measure_spans(clones: Path) -> None:
    """Print for each kind how often what was found in a text is of it."""
    counted: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for repository, commit, path, digest, kind, span, label in _labels("spans"):
        text = _texts(clones, repository, commit, path).get(digest)
        if text is None:
            continue
        found = {(one.kind.value, _digest(one.text)) for one in find_entities(text=text)}
        counted[kind][(kind, span) in found, label == "yes"] += 1
    print("\nnamed things")
    for kind, of_kind in sorted(counted.items()):
        chosen = of_kind[True, True] + of_kind[True, False]
        print(
            _line(kind, of_kind[True, True], chosen) + f", no longer found {of_kind[False, True]}"
        )


def measure_passages(clones: Path) -> None:
    """Print how many passages of documents can be understood alone."""
    counted: dict[str, Counter[bool]] = defaultdict(Counter)
    for repository, commit, path, digest, label in _labels("passages"):
        for passage in passages.read(text=_git(clones, repository, "show", f"{commit}:{path}")):
            if _digest(passage.text) == digest:
                counted[passage.kind.value][label == "yes"] += 1
                break
    print("\npassages of documents, whole")
    for kind, whole in sorted(counted.items()):
        print(_line(kind, whole[True], whole.total()))
    right = sum(whole[True] for whole in counted.values())
    print(_line("all", right, sum(whole.total() for whole in counted.values())))


def measure_observations(clones: Path, transcripts: Path | None) -> None:
    """Print for each kind of observation how often it is true, and useful to a colleague."""
    labelled = [row for row in _labels("observations") if "?" not in row]
    seen = _observations(clones, transcripts, {(row[0], row[1]) for row in labelled})
    answers: dict[str, list[list[str]]] = defaultdict(list)
    for source, path, kind, key, *answer in labelled:
        if (source, path, kind, key) in seen:
            answers[kind].append(answer)
            answers["all"].append(answer)
    print(f"\nobservations of sessions: {len(labelled)} labelled, {len(answers['all'])} seen")
    for column, question in enumerate(("true", "useful")):
        for kind, given in sorted(answers.items()):
            right = sum(answer[column] == "yes" for answer in given)
            print(_line(f"{question}: {kind}", right, len(given)))


def _observations(
    clones: Path, transcripts: Path | None, places: set[tuple[str, str]]
) -> set[tuple[str, str, str, str]]:
    """Return what was observed in some sessions: source, path, kind, digest of the key."""
    told = dict(transcript_sessions(folder=transcripts)) if transcripts else {}
    if not told:
        print("\nno folder of transcripts: what was observed in them is not measured")
    seen: set[tuple[str, str, str, str]] = set()
    for source, path in places:
        repository, _, commit = source.partition("@")
        if commit:
            text = _git(clones, repository, "show", f"{commit}:{path}")
            told[path] = history_session(repository=repository, path=path, text=text)
        found = detect.witnessed(scratchpad=told[path], rejected={}) if path in told else ()
        seen.update((source, path, one.kind.value, _digest(one.key)) for one in found)
    return seen


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _conversation(clones: Path, repository: str, commit: str, path: str) -> Conversation:
    text = _git(clones, repository, "show", f"{commit}:{path}")
    return foreign_conversations.parse(path=path, text=text)


@cache
def _extracted(told: Conversation) -> tuple[Candidate, ...]:
    return extract(turns=told.turns)


@cache
def _texts(clones: Path, repository: str, commit: str, path: str) -> dict[str, str]:
    """Return the passages of a document, or the sentences of a conversation, by digest."""
    if foreign_conversations.is_history(path=path):
        said = (
            sentence.text
            for turn in _conversation(clones, repository, commit, path).turns
            for sentence in own_words(turn=turn)
        )
    else:
        text = _git(clones, repository, "show", f"{commit}:{path}")
        said = (passage.text for passage in passages.read(text=text))
    return {_digest(one): one for one in said}


def _labels(name: str) -> Iterator[list[str]]:
    for line in (LABELS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


@cache
def _types(clones: Path, repository: str, commit: str, path: str) -> dict[str, str]:
    text = _git(clones, repository, "show", f"{commit}:{path}")
    return {_digest(one.content): one.type.value for one in read_document(text=text, path=path)}


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
    return f"  {name:26} precision {precision:.2f} of {count:3}{verdict}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
