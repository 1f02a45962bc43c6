"""Sightings in one to three sentences, by template, when no model phrases them.

The same sighting always gives the same words, so that what two sessions show is recognized as one.
Which of its types a signal becomes is decided by what it shows, not by chance.
"""

from collections.abc import Callable, Mapping
from typing import Final

from memory.observer import detections
from memory.observer.dead_ends import DeadEnd
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.taxonomy import MemoryType

CONTENT_MOST: Final = 700  # characters, ours
PART_MOST: Final = 240  # characters of one value in a sentence, ours
ONLY_TYPE: Final = {
    SignalKind.FILE_ACCESS: MemoryType.PREFETCH_PATTERN,
    SignalKind.BACKTRACK: MemoryType.GOTCHA,
    SignalKind.READ_ABANDON: MemoryType.GOTCHA,
    SignalKind.TOOL_SEQUENCE: MemoryType.WORKFLOW_RECIPE,
    SignalKind.EXTERNAL_REFERENCE: MemoryType.MODULE_INSIGHT,
    SignalKind.GLOB_IGNORED: MemoryType.GOTCHA,
    SignalKind.IMPORT_CHASE: MemoryType.CAUSAL_DEPENDENCY,
    SignalKind.TEST_ORDER: MemoryType.TASK_CALIBRATION,
    SignalKind.CONFIG_TOUCHED: MemoryType.CAUSAL_DEPENDENCY,
    SignalKind.STEP_OVERRUN: MemoryType.TASK_CALIBRATION,
    SignalKind.PARALLEL_CONFLICT: MemoryType.GOTCHA,
    SignalKind.CONTEXT_SPIKE: MemoryType.CONTEXT_COST,
}


def becomes(*, sighting: Sighting) -> MemoryType | None:
    """Return the type a sighting becomes; None when it only strengthens others."""
    if sighting.kind in ONLY_TYPE:
        return ONLY_TYPE[sighting.kind]
    choice = _CHOICES.get(sighting.kind)
    return choice(sighting) if choice is not None else None


def content(*, sighting: Sighting) -> str:
    """Put a sighting into words; empty when it becomes no memory."""
    template = _TEMPLATES.get(sighting.kind)
    return template(sighting)[:CONTENT_MOST] if template is not None else ""


def dead_end(*, found: DeadEnd) -> str:
    """Put a dead end into words."""
    parts = [
        f"For “{_part(found.task)}”, {_part(found.approach)} did not work."
        if found.task
        else f"{_part(found.approach).capitalize()} did not work.",
        _sentence(found.why_it_failed),
        f"What came instead: {_part(found.alternative)}." if found.alternative else "",
    ]
    return " ".join(part for part in parts if part)[:CONTENT_MOST]


def _of_co_access(sighting: Sighting) -> MemoryType:
    is_change = detections.detail(sighting=sighting, name="both_edited") == "yes"
    return MemoryType.CAUSAL_DEPENDENCY if is_change else MemoryType.PREFETCH_PATTERN


def _of_error(sighting: Sighting) -> MemoryType:
    is_resolved = detections.detail(sighting=sighting, name="resolved") == "yes"
    return MemoryType.ERROR_PATTERN if is_resolved else MemoryType.GOTCHA


def _of_grep(sighting: Sighting) -> MemoryType:
    return MemoryType.MODULE_INSIGHT if sighting.files else MemoryType.GOTCHA


def _of_correction(sighting: Sighting) -> MemoryType:
    return MemoryType.GOTCHA if sighting.files else MemoryType.MODULE_INSIGHT


_CHOICES: Final[Mapping[SignalKind, Callable[[Sighting], MemoryType]]] = {
    SignalKind.CO_ACCESS: _of_co_access,
    SignalKind.ERROR_RETRY: _of_error,
    SignalKind.REPEATED_GREP: _of_grep,
    SignalKind.SELF_CORRECTION: _of_correction,
}


def _part(text: str) -> str:
    return " ".join(text.split())[:PART_MOST].rstrip(". ")


def _sentence(text: str) -> str:
    kept = " ".join(text.split())[:PART_MOST]
    return kept if not kept or kept.endswith((".", "!", "?")) else f"{kept}."


def _named(sighting: Sighting, name: str) -> str:
    return _part(detections.detail(sighting=sighting, name=name))


def _files(sighting: Sighting) -> str:
    return ", ".join(sighting.files)


def _file_access(one: Sighting) -> str:
    return f"Work here comes back to {_files(one)}; read it at the start."


def _co_access(one: Sighting) -> str:
    first, second = _named(one, "first"), _named(one, "second")
    if _of_co_access(one) is MemoryType.CAUSAL_DEPENDENCY:
        return f"A change of {first} comes with a change of {second}."
    return f"Who changes one of {first} and {second} reads the other."


def _error_retry(one: Sighting) -> str:
    said = f"{_named(one, 'what').capitalize()} fails with “{_named(one, 'message')}”"
    how = _named(one, "how")
    return f"{said}. It went through {how}." if how else f"{said}, also when tried again."


def _backtrack(one: Sighting) -> str:
    return f"Changes of {_files(one)} were taken back in the same session; look twice before."


def _read_abandon(one: Sighting) -> str:
    return (
        f"{_files(one)} looks like the place and is not; the work was in {_named(one, 'instead')}."
    )


def _repeated_grep(one: Sighting) -> str:
    pattern, found = _named(one, "pattern"), _named(one, "found")
    if found:
        return f"“{pattern}” is searched for again and again; it is in {found}."
    return f"“{pattern}” is searched for again and again and is not found by that name."


def _tool_sequence(one: Sighting) -> str:
    steps = detections.detail(sighting=one, name="steps").split("\n")
    return f"The usual steps here: {', then '.join(steps)}."


def _self_correction(one: Sighting) -> str:
    where = f" (about {_files(one)})" if one.files else ""
    return f"Corrected by the agent itself{where}: {_sentence(_named(one, 'text'))}"


def _external_reference(one: Sighting) -> str:
    return f"Work on {_files(one)} needed {_named(one, 'page')}."


def _glob_ignored(one: Sighting) -> str:
    used = _named(one, "used")
    return f"The files that {_named(one, 'glob')} finds are not the ones; it was {used}."


def _import_chase(one: Sighting) -> str:
    return f"{_named(one, 'first')} depends on {_named(one, 'last')} by way of its imports."


def _test_order(one: Sighting) -> str:
    order = detections.detail(sighting=one, name="order").split("\n")
    runs, failures = _named(one, "runs"), _named(one, "failures")
    where = _named(one, "module") or "the project"
    return f"Tests of {where}: {', then '.join(order)}; {runs} runs, {failures} of them failed."


def _config_touched(one: Sighting) -> str:
    others = ", ".join(path for path in one.files if path != _named(one, "config"))
    return f"A change of {others} needed a change of {_named(one, 'config')}."


def _step_overrun(one: Sighting) -> str:
    planned, actual = _named(one, "planned"), _named(one, "actual")
    where = _named(one, "module") or "the project"
    return f"Work on {where} took {actual} steps where {planned} were planned."


def _parallel_conflict(one: Sighting) -> str:
    return f"Two were at work on {_files(one) or 'the repository'} at once and collided."


def _context_spike(one: Sighting) -> str:
    return f"{_named(one, 'what')} costs about {_named(one, 'tokens')} tokens of context."


_TEMPLATES: Final[Mapping[SignalKind, Callable[[Sighting], str]]] = {
    SignalKind.FILE_ACCESS: _file_access,
    SignalKind.CO_ACCESS: _co_access,
    SignalKind.ERROR_RETRY: _error_retry,
    SignalKind.BACKTRACK: _backtrack,
    SignalKind.READ_ABANDON: _read_abandon,
    SignalKind.REPEATED_GREP: _repeated_grep,
    SignalKind.TOOL_SEQUENCE: _tool_sequence,
    SignalKind.SELF_CORRECTION: _self_correction,
    SignalKind.EXTERNAL_REFERENCE: _external_reference,
    SignalKind.GLOB_IGNORED: _glob_ignored,
    SignalKind.IMPORT_CHASE: _import_chase,
    SignalKind.TEST_ORDER: _test_order,
    SignalKind.CONFIG_TOUCHED: _config_touched,
    SignalKind.STEP_OVERRUN: _step_overrun,
    SignalKind.PARALLEL_CONFLICT: _parallel_conflict,
    SignalKind.CONTEXT_SPIKE: _context_spike,
}
