"""What a session did, in bounded space: the state that `fold` makes from its events.

A scratchpad is a value: the fold copies one before it changes the copy, and nobody else changes
any. Everything in it has a stated cap, so that the whole stays far below 50 MB however long a
session runs. When the log of deeds is full, the oldest of those that tell least go first.

`dump` and `load` turn one into bytes and back. Such a checkpoint spares reading events again; it is
never the truth: for one that cannot be read the caller rebuilds from the events.
"""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import orjson
from pydantic import TypeAdapter

from memory.sessions.events import Event, Outcome
from memory.sessions.tools import Act
from memory.sessions.turns import Remark

VERSION: Final = 5  # of a checkpoint


class SessionType(StrEnum):
    """What a session is for, which decides what is promoted."""

    BUILD = "build"
    INSIGHTS = "insights"
    ROADMAP = "roadmap"
    TERMINAL = "terminal"
    CHANGELOG = "changelog"
    SPEC = "spec"
    PR_REVIEW = "pr_review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of a session before its events.

    `root` is the folder of its repository, `folder` the one in it where the agent works, to which
    relative paths belong; empty: the same. `planned_steps` is 0 when nobody planned.
    """

    type: SessionType = SessionType.TERMINAL
    root: str = ""
    folder: str = ""
    planned_steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One tool call with what came of it.

    `clock` is the session's own time in seconds, which never runs back; `at_seconds` is when the
    call was made, since 1970, None where nobody told. `found` holds the paths that a search named.
    `also` are files beside the target that the same
    call read or edited, `added` the few lines that an edit added. `message` is the line that tells
    an error. `seconds` is None while the result is missing.
    """

    sequence: int
    step: int
    act: Act
    name: str
    target: str
    agent: str = ""
    line: int = 0
    before: str = ""
    after: str = ""
    added: str = ""
    clock: float = 0.0
    at_seconds: float | None = None
    is_done: bool = False
    is_error: bool = False
    fingerprint: str = ""
    message: str = ""
    found: tuple[str, ...] = ()
    seconds: float | None = None
    also: tuple[str, ...] = ()

    @property
    def is_edit(self) -> bool:
        """Whether it changed a file."""
        return self.act is Act.EDIT and not self.is_error

    @property
    def went_well(self) -> bool:
        """Whether its result is there and no error."""
        return self.is_done and not self.is_error


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """How often a session touched a file, and when last.

    `tokens` is what reading it took, the most of any time; 0 where nobody knows.
    """

    reads: int = 0
    edits: int = 0
    last_sequence: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """From which event on outside content was in the agents' view, and whence.

    What a subagent saw comes back to who sent it: from the first call that sent one, then.
    """

    sequence: int
    step: int
    reason: str


@dataclass(slots=True, kw_only=True)
class Scratchpad:
    """The state after the events up to `through`; `pending` waits for events before it.

    `applied` to `dropped` count events: applied, come twice, come after their gap was passed over,
    never come, of unknown kinds, results without a call, deeds that the full log let go. `by_lines`
    tells how the writer of the last event counts, `sent` which call of the main agent was the first
    to send a subagent; 0 when none did. `steps` are the tokens that each took. Entries that the
    agent recorded, commits and reports of QA are kept as their events, with their texts cut.
    """

    setting: Setting
    through: int = 0
    gaps: tuple[tuple[int, int], ...] = ()
    applied: int = 0
    twice: int = 0
    late: int = 0
    missing: int = 0
    by_lines: bool = False
    unknown: int = 0
    orphans: int = 0
    dropped: int = 0
    pending: dict[int, Event] = field(default_factory=dict)
    deeds: dict[int, Deed] = field(default_factory=dict)
    open_calls: dict[str, int] = field(default_factory=dict)
    files: dict[str, FileUse] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    steps: dict[str, int] = field(default_factory=dict)
    recorded: tuple[Event, ...] = ()
    commits: tuple[Event, ...] = ()
    reports: tuple[Event, ...] = ()
    taint: Taint | None = None
    sent: int = 0
    written: frozenset[str] = frozenset()
    prompts: int = 0
    task: str = ""
    current_step: int = 0
    clock: float = 0.0
    last_at_seconds: float | None = None
    outcome: Outcome | None = None
    steps_done: int = 0

    @property
    def steps_taken(self) -> int:
        """The steps of the session: as its end says, or as far as they were counted."""
        return self.steps_done or self.current_step

    @property
    def taint_reason(self) -> str:
        """What outside content came into view; empty for none."""
        return self.taint.reason if self.taint else ""

    def cost_of(self, *, deed: Deed) -> int:
        """Return the tokens of a deed's step; 0 where nobody told."""
        return self.steps.get(step_key(agent=deed.agent, step=deed.step), 0)


def step_key(*, agent: str, step: int) -> str:
    """Return by what a step's cost is known: each agent of a session counts its own."""
    return f"{agent}\0{step}"


def edited(*, scratchpad: Scratchpad) -> frozenset[str]:
    """Return the files that the session edited."""
    return frozenset(path for path, use in scratchpad.files.items() if use.edits)


def each_file(*, deeds: Iterable[Deed]) -> Iterator[Deed]:
    """Yield deeds, one that read or edited several files as one deed for each of them."""
    for deed in deeds:
        yield deed
        for path in deed.also:
            yield replace(deed, target=path, also=())


def touched(*, known: FileUse | None, deed: Deed) -> FileUse:
    """Return how a file was used after one more read or edit of it."""
    use, is_edit = known or FileUse(), deed.act is Act.EDIT
    return replace(
        use,
        reads=use.reads + (not is_edit),
        edits=use.edits + is_edit,
        last_sequence=deed.sequence,
    )


def files_of(*, deeds: Iterable[Deed]) -> dict[str, FileUse]:
    """Return how some calls used files; what reading these takes is left out."""
    files: dict[str, FileUse] = {}
    for deed in each_file(deeds=deeds):
        if deed.act in {Act.READ, Act.EDIT} and deed.target:
            files[deed.target] = touched(known=files.get(deed.target), deed=deed)
    return files


def in_order(*, scratchpad: Scratchpad) -> tuple[Deed, ...]:
    """Return the deeds in the order in which they were begun."""
    return tuple(scratchpad.deeds.values())


def taint_of(*, last_sequence: int, scratchpad: Scratchpad) -> str:
    """Return why what rests on events up to `last_sequence` is tainted; empty when it is not.

    Filters of content do not stop an injection that was stored; where a text came from does. What
    rests on any event after outside content came into view is tainted, whatever it says, and only a
    person lifts that.
    """
    taint = scratchpad.taint
    return "" if taint is None or last_sequence <= taint.sequence else taint.reason


def dump(*, scratchpad: Scratchpad) -> bytes:
    """Write a scratchpad; the same one always gives the same bytes."""
    return orjson.dumps(
        {"version": VERSION, "scratchpad": scratchpad},
        default=sorted,  # a set of names
        option=orjson.OPT_NON_STR_KEYS,
    )


def load(*, data: bytes) -> Scratchpad:
    """Read a scratchpad; raise ValueError for what `dump` of this version did not write."""
    try:
        row = orjson.loads(data)
        version, state = row["version"], row["scratchpad"]
    except (KeyError, TypeError) as error:
        raise ValueError("not a checkpoint") from error
    if version != VERSION:
        raise ValueError(f"a checkpoint of version {version}, not {VERSION}")
    return _adapter().validate_python(state)


@functools.cache
def _adapter() -> TypeAdapter[Scratchpad]:
    return TypeAdapter(Scratchpad)
