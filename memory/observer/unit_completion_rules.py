"""What a methodology does when a unit of work ends: a fixed table of acts, and what each writes.

All of it is data and templates: figures of the session, no model and no code of anybody's. Nothing
is done where the work was abandoned or nobody knows how it ended.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memory.customization.phases import OnComplete
from memory.observer.detections import FILES_MOST
from memory.sessions import file_paths
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.tools import Act
from memory.taxonomy import MemoryType

CONFIDENCE: Final = 0.75  # of what a session's figures say; default, not measured
ENDED: Final[Mapping[Outcome | None, str]] = {  # that say how it went
    Outcome.SUCCESS: "ended well",
    Outcome.FAILURE: "failed",
}
WHOLE: Final = "project"  # the module of work that edited no file


@dataclass(frozen=True, slots=True, kw_only=True)
class ActDraft:
    """What an act would remember; `reason` says why it is tainted."""

    act: OnComplete
    type: MemoryType
    content: str
    files: tuple[str, ...]
    attributes: Mapping[str, object]
    reason: str


def is_completed(*, scratchpad: Scratchpad) -> bool:
    """Say whether work has come to an end that says how it went."""
    return scratchpad.outcome in ENDED


def drafts(
    *, acts: tuple[OnComplete, ...], label: str, methodology: str, scratchpad: Scratchpad
) -> tuple[ActDraft, ...]:
    """Return what the acts of a methodology remember of a session; nothing of work that goes on.

    The outcome is told in the session's figures; the calibration, the steps against those planned,
    where somebody planned.
    """
    if not label or scratchpad.outcome not in ENDED:
        return ()
    deeds = scratchpad.deeds.values()
    edits = {path: use.edits for path, use in scratchpad.files.items() if use.edits}
    files = tuple(sorted(edits, key=lambda path: (-edits[path], path)))
    modules = Counter[str]()
    for path in files:
        modules[file_paths.module(path=path)] += edits[path]
    module = next((module for module, _ in modules.most_common(1)), "") or WHOLE
    steps = scratchpad.steps_done or scratchpad.current_step
    planned = scratchpad.setting.planned_steps
    tests = sum(deed.act is Act.TEST for deed in deeds)
    errors = sum(deed.is_error for deed in deeds)
    over = f" of {planned} planned" if planned else ""
    found: dict[OnComplete, tuple[MemoryType, str, Mapping[str, object]]] = {
        OnComplete.RECORD_OUTCOME: (
            MemoryType.WORK_UNIT_OUTCOME,
            f"{label} {ENDED[scratchpad.outcome]}: steps {steps}{over}, files edited "
            f"{len(files)}, test runs {tests}, errors {errors}.",
            {"succeeded": scratchpad.outcome is Outcome.SUCCESS, "steps": steps},
        )
    }
    if planned and steps:
        ratio = round(steps / planned, 2)
        content = (
            f"{label} took {steps} steps where {planned} were planned "
            f"({ratio} times as many), most of them in {module}."
        )
        figures = {"module": module, "planned": planned, "actual": steps, "ratio": ratio}
        by = {"methodology": methodology} if methodology else {}
        found[OnComplete.CALIBRATE] = (
            MemoryType.TASK_CALIBRATION, content, {**figures, "samples": 1, **by},
        )  # fmt: skip
    reason = scratchpad.taint.reason if scratchpad.taint else ""
    made = {act: found[act] for act in acts if act in found}
    return tuple(
        ActDraft(
            act=act,
            type=type,
            content=content,
            files=files[:FILES_MOST],
            attributes=attributes,
            reason=reason,
        )
        for act, (type, content, attributes) in made.items()
    )
