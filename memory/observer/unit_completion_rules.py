"""What a methodology does when a unit of work ends: a fixed table of acts, and what each writes.

All of it is data and templates: figures of the session, no model and no code of anybody's. Nothing
is done where the work was abandoned or nobody knows how it ended.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.customization.methodology import OnComplete
from memory.observer.detections import FILES_MOST
from memory.sessions import file_paths
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.tools import Act
from memory.taxonomy import MemoryType

CONFIDENCE: Final = 0.75  # of what a session's figures say, ours
COMPLETED: Final = frozenset({Outcome.SUCCESS, Outcome.FAILURE})
ENDED: Final = {Outcome.SUCCESS: "ended well", Outcome.FAILURE: "failed"}
WHOLE: Final = "project"  # the module of work that edited no file


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of work: its name, and the methodology it is done by."""

    label: str
    methodology: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an act would remember; `reason` says why it is tainted."""

    act: OnComplete
    type: MemoryType
    content: str
    files: tuple[str, ...]
    attributes: Mapping[str, object]
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """What a session came to."""

    steps: int
    planned: int
    files: tuple[str, ...]
    tests: int
    errors: int
    module: str
    succeeded: bool
    ended: str


def is_completed(*, scratchpad: Scratchpad) -> bool:
    """Say whether work has come to an end that says how it went."""
    return scratchpad.outcome in COMPLETED


def drafts(
    *, acts: tuple[OnComplete, ...], unit: Unit, scratchpad: Scratchpad
) -> tuple[Draft, ...]:
    """Return what the acts of a methodology remember of a session; nothing of work that goes on."""
    if not unit.label or not is_completed(scratchpad=scratchpad):
        return ()
    figures = _figures(scratchpad)
    reason = scratchpad.taint.reason if scratchpad.taint else ""
    made = []
    for act in dict.fromkeys(acts):
        said = _MAKERS[act](unit, figures)
        if said is None:
            continue
        type, content, attributes = said
        made.append(
            Draft(
                act=act,
                type=type,
                content=content,
                files=figures.files[:FILES_MOST],
                attributes=attributes,
                confidence=CONFIDENCE,
                reason=reason,
            )
        )
    return tuple(made)


def _figures(scratchpad: Scratchpad) -> _Figures:
    deeds = scratchpad.deeds.values()
    edits = {path: use.edits for path, use in scratchpad.files.items() if use.edits}
    files = tuple(sorted(edits, key=lambda path: (-edits[path], path)))
    modules = Counter[str]()
    for path in files:
        modules[file_paths.module(path=path)] += edits[path]
    most = next((module for module, _ in modules.most_common(1)), "")
    outcome = scratchpad.outcome or Outcome.UNKNOWN
    return _Figures(
        steps=scratchpad.steps_done or scratchpad.current_step,
        planned=scratchpad.setting.planned_steps,
        files=files,
        tests=sum(deed.act is Act.TEST for deed in deeds),
        errors=sum(deed.is_error for deed in deeds),
        module=most or WHOLE,
        succeeded=outcome is Outcome.SUCCESS,
        ended=ENDED.get(outcome, ""),
    )


_Said = tuple[MemoryType, str, Mapping[str, object]]


def _outcome(unit: Unit, figures: _Figures) -> _Said:
    """Say how the unit of work ended, in the session's figures."""
    over = f" of {figures.planned} planned" if figures.planned else ""
    content = (
        f"{unit.label} {figures.ended}: steps {figures.steps}{over}, files edited "
        f"{len(figures.files)}, test runs {figures.tests}, errors {figures.errors}."
    )
    attributes = {"succeeded": figures.succeeded, "steps": figures.steps}
    return MemoryType.WORK_UNIT_OUTCOME, content, attributes


def _calibration(unit: Unit, figures: _Figures) -> _Said | None:
    """Say how many steps it took against those planned; nothing where nobody planned."""
    if not figures.planned or not figures.steps:
        return None
    ratio = round(figures.steps / figures.planned, 2)
    content = (
        f"{unit.label} took {figures.steps} steps where {figures.planned} were planned "
        f"({ratio} times as many), most of them in {figures.module}."
    )
    attributes: dict[str, object] = {
        "module": figures.module,
        "planned": figures.planned,
        "actual": figures.steps,
        "ratio": ratio,
        "samples": 1,
    }
    if unit.methodology:
        attributes["methodology"] = unit.methodology
    return MemoryType.TASK_CALIBRATION, content, attributes


_MAKERS: Final[Mapping[OnComplete, Callable[[Unit, _Figures], _Said | None]]] = {
    OnComplete.RECORD_OUTCOME: _outcome,
    OnComplete.CALIBRATE: _calibration,
}
