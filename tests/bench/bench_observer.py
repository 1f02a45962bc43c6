"""What would be learned from real sessions, as a list to be graded without sight of the rules.

    python -m tests.bench.bench_observer list SESSIONS >learned.tsv
    python -m tests.bench.bench_observer grades learned.tsv GRADES.tsv

SESSIONS holds a folder for each project (`owner+name`), with what its agents' sessions left there,
in any folders below: transcripts of Claude Code (packed or not, with their subagents), rollouts of
Codex, histories that SpecStory wrote. The sessions of a project are taken in the order of their
first event, each as if it were a terminal's that has ended, and without a model; what was proposed
once in a project is not proposed again. The list tells from what a memory comes only by a word in
its id: `shown` is what behavior showed, `said` is what somebody said.

How to grade. Read a session, or the lines of it that bear on a memory, then each memory by itself,
as somebody would who starts to work on that project tomorrow and sees nothing but the memory:

- `useful`: true, understood alone, and it would save that person a mistake, a search or a question.
  A rule that the user states is useful where it holds beyond the task of the day.
- `marginal`: true and understood, but hardly ever of use, or known to anybody who can do the work.
- `noise`: not understood alone, a tautology, a detail of that session's task, a piece of one.
- `wrong`: not what happened, not true of the project, or it advises what failed.

A row of GRADES is the id of a memory and its grade; a row `lesson`, a lesson's number and `yes` or
`no` says whether one of the lessons that a reader found in a session is in the list.
"""

import csv
import gzip
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memory.client.transcripts import reader
from memory.evaluation import measures
from memory.extraction import extract
from memory.observer import detect, promotion
from memory.observer.detections import SignalKind
from memory.sessions import event_parsing
from memory.sessions.events import Event, Outcome
from memory.sessions.scratchpad import Scratchpad, Setting
from memory.sessions.turns import Speaker, Turn
from tests.bench import foreign_conversations

GRADES = ("useful", "marginal", "noise", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session: its name, when it began, what it did and what was said in it."""

    name: str
    began: str
    scratchpad: Scratchpad
    turns: tuple[Turn, ...]


def write_list(folder: Path) -> None:
    """Print a row for each memory that the sessions of each project would propose."""
    out = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    out.writerow(("id", "project", "session", "type", "content", "files"))
    for project in sorted(one for one in folder.iterdir() if one.is_dir()):
        with _unpacked(project) as whole:
            sessions = sorted(_sessions(project.name, whole), key=lambda one: one.began)
        for session, source, type, content, files in _learned(sessions):
            digest = hashlib.sha256(f"{session}{content}".encode()).hexdigest()[:8]
            row = (f"{source}-{digest}", project.name, session, type, " ".join(content.split()))
            out.writerow((*row, ", ".join(files)))


def _learned(sessions: list[Session]) -> Iterator[tuple[str, str, str, str, tuple[str, ...]]]:
    """Yield session, source, type, content and files of what is proposed, each once a project."""
    before: Counter[tuple[SignalKind, str]] = Counter()
    known: set[str] = set()
    for one in sessions:
        outcome = one.scratchpad.outcome or Outcome.UNKNOWN
        scratchpad = replace(one.scratchpad, outcome=outcome)
        seen = detect.witnessed(scratchpad=scratchpad, rejected={})
        proposed = promotion.propose(scratchpad=scratchpad, seen=seen, seen_before=before)
        before.update((each.kind, each.key) for each in seen if not each.reason)
        most = promotion.GATES[scratchpad.setting.type].most
        fresh = [each for each in proposed if each.key not in known][:most]
        known.update(each.key for each in fresh)
        for each in fresh:
            yield one.name, "shown", each.type.value, each.content, each.files
        for told in extract.extract(turns=one.turns):
            if told.content not in known:
                known.add(told.content)
                yield one.name, "said", told.type.value, told.content, told.files


@contextmanager
def _unpacked(project: Path) -> Iterator[Path]:
    """Yield a folder with a project's files as they are, and the packed ones without their pack."""
    with TemporaryDirectory() as whole:
        for path in project.rglob("*"):
            plain = Path(whole) / path.relative_to(project)
            if path.is_file():
                plain.parent.mkdir(parents=True, exist_ok=True)
                data = path.read_bytes()
                is_packed = path.suffix == ".gz"
                plain = plain.with_suffix("") if is_packed else plain
                plain.write_bytes(gzip.decompress(data) if is_packed else data)
        yield Path(whole)


def _sessions(project: str, folder: Path) -> Iterator[Session]:
    for transcript in reader.named_transcripts(paths=(folder,)):
        yield _of_transcript(transcript, transcript.path.relative_to(folder).as_posix())
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).as_posix()
        if foreign_conversations.is_history(path=name):
            text = path.read_text(encoding="utf-8", errors="replace")
            yield Session(
                name=name,
                began=path.name,
                scratchpad=foreign_conversations.history_session(
                    repository=project.replace("+", "/"), path=name, text=text
                ),
                turns=foreign_conversations.parse(path=name, text=text).turns,
            )


def _of_transcript(main: reader.Transcript, name: str) -> Session:
    lines = [
        line
        for one in (main, *reader.subagents(of=main))
        for line in reader.read(path=one.path, parser=one.source.parser, rank=one.rank)
    ]
    rows = [row for line in lines for row in line.events]
    read = [event_parsing.read(row=row) for row in rows]
    place = reader.work_place(transcript=main)
    turns = tuple(
        Turn(sequence=row["sequence"], speaker=Speaker(row["role"]), text=row["text"])
        for line in lines
        for row in line.turns
        if row["role"] in {each.value for each in Speaker}
    )
    return Session(
        name=name,
        began=min((str(row.get("at", "")) for row in rows), default=""),
        scratchpad=foreign_conversations.folded(
            setting=Setting(root=place.cwd),
            events=(one for one in read if isinstance(one, Event)),
        ),
        turns=turns,
    )


def count_grades(learned: Path, graded: Path) -> None:
    """Print the shares of the grades with 95 % bootstrap intervals over sessions."""
    rows = list(csv.DictReader(learned.open(encoding="utf-8"), delimiter="\t"))
    given = [line.split("\t") for line in graded.read_text(encoding="utf-8").splitlines() if line]
    grades = {name: grade for name, grade, *_ in given if name != "lesson"}
    missing = [row["id"] for row in rows if grades.get(row["id"]) not in GRADES]
    if missing:
        raise SystemExit(f"without a grade: {' '.join(missing)}")
    projects = {row["project"] for row in rows}
    print(f"{len(rows)} memories of {len({row['session'] for row in rows})} sessions"
          f" that gave any, of {len(projects)} projects")  # fmt: skip
    for source in ("shown", "said", ""):
        chosen = [row for row in rows if row["id"].startswith(source)]
        by_session: dict[str, Counter[str]] = defaultdict(Counter)
        for row in chosen:
            by_session[row["session"]][grades[row["id"]]] += 1
        print(f"\n{source or 'all'}: {len(chosen)}")
        for name, wanted in (*((one, (one,)) for one in GRADES), ("noise or wrong", GRADES[2:])):
            right = [sum(counts[one] for one in wanted) for counts in by_session.values()]
            wholes = [counts.total() for counts in by_session.values()]
            found = measures.quotient(numerators=right, denominators=wholes)
            if found is not None:
                print(f"  {name:15} {sum(right):3}  {found.mean:.2f}"
                      f" [{found.low:.2f}, {found.high:.2f}]")  # fmt: skip
    lessons = [answer for name, _, answer in (one for one in given if one[0] == "lesson")]
    if lessons:
        print(f"\nlessons in the list: {lessons.count('yes')} of {len(lessons)}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["list", folder]:
            write_list(Path(folder))
        case ["grades", learned, graded]:
            count_grades(Path(learned), Path(graded))
        case _:
            raise SystemExit(__doc__)
