"""What a sighting becomes: its type, its words by template, and the fields of its type.

The same sighting always gives the same words, so that what two sessions show is recognized as one.
Which of its types a signal becomes is decided by what it shows, not by chance. A model may phrase
it better later; nothing waits for that.
"""

from collections.abc import Callable, Mapping
from typing import Final

from memory.observer.detections import Sighting, SignalKind
from memory.observer.reentered_dead_ends import DeadEnd
from memory.sessions import file_paths
from memory.taxonomy import MemoryType

CONTENT_MOST: Final = 700  # characters; default, not measured
PART_MOST: Final = 240  # characters of one value in a sentence; default, not measured

_TYPES: Final[Mapping[SignalKind, MemoryType]] = {
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
_TEMPLATES: Final[Mapping[SignalKind, str]] = {  # by `files` and the details of a sighting
    SignalKind.FILE_ACCESS: "Work here comes back to {files}; read it at the start.",
    SignalKind.BACKTRACK: "Changes of {files} were taken back in the same session; look twice "
    "before.",
    SignalKind.READ_ABANDON: "{files} looks like the place and is not; the work was in {instead}.",
    SignalKind.TOOL_SEQUENCE: "The usual steps here: {steps}.",
    SignalKind.EXTERNAL_REFERENCE: "Work on {files} needed {page}.",
    SignalKind.GLOB_IGNORED: "The files that {glob} finds are not the ones; it was {used}.",
    SignalKind.IMPORT_CHASE: "{first} depends on {last} by way of its imports.",
    SignalKind.TEST_ORDER: "Tests of {module}: {order}; {runs} runs, {failures} of them failed.",
    SignalKind.CONFIG_TOUCHED: "A change of {others} needed a change of {config}.",
    SignalKind.STEP_OVERRUN: "Work on {module} took {actual} steps where {planned} were planned.",
    SignalKind.PARALLEL_CONFLICT: "Two were at work on {where} at once and collided.",
    SignalKind.CONTEXT_SPIKE: "{what} costs about {tokens} tokens of context.",
}
_OF_CHANGES: Final = "A change of {first} comes with a change of {second}."
_OF_READS: Final = "Who changes one of {first} and {second} reads the other."
_RESOLVED: Final = "{What} fails with “{message}”. It went through {how}."
_UNRESOLVED: Final = "{What} fails with “{message}”, also when tried again."
_FOUND: Final = "“{pattern}” is searched for again and again; it is in {found}."
_NOT_FOUND: Final = "“{pattern}” is searched for again and again and is not found by that name."
_CORRECTED: Final = "Corrected by the agent itself{about}: {sentence}"


def becomes(*, sighting: Sighting) -> MemoryType | None:
    """Return the type a sighting becomes; None when it only strengthens others."""
    if sighting.kind in _TYPES:
        return _TYPES[sighting.kind]
    details, has_files = sighting.details, bool(sighting.files)
    is_coupled, is_resolved = details.get("both_edited") == "yes", details.get("resolved") == "yes"
    choices = {  # the type where something holds, and where it does not
        SignalKind.CO_ACCESS: (
            is_coupled, MemoryType.CAUSAL_DEPENDENCY, MemoryType.PREFETCH_PATTERN,
        ),
        SignalKind.ERROR_RETRY: (is_resolved, MemoryType.ERROR_PATTERN, MemoryType.GOTCHA),
        SignalKind.REPEATED_GREP: (has_files, MemoryType.MODULE_INSIGHT, MemoryType.GOTCHA),
        SignalKind.SELF_CORRECTION: (has_files, MemoryType.GOTCHA, MemoryType.MODULE_INSIGHT),
    }  # fmt: skip
    if sighting.kind not in choices:
        return None
    holds, first, second = choices[sighting.kind]
    return first if holds else second


def content(*, sighting: Sighting) -> str:
    """Put a sighting into words; empty when it becomes no memory."""
    type = becomes(sighting=sighting)
    if type is None:
        return ""
    files, named = sighting.files, {name: _part(it) for name, it in sighting.details.items()}
    config = sighting.details.get("config")
    values = {
        **named,
        "files": ", ".join(files),
        "where": ", ".join(files) or "the repository",
        "module": named.get("module") or "the project",
        "others": ", ".join(path for path in files if path != config),
        "What": named.get("what", "").capitalize(),
        "about": f" (about {', '.join(files)})" if files else "",
        "sentence": _sentence(named.get("text", "")),
        **{
            name: ", then ".join(sighting.details.get(name, "").split("\n"))
            for name in ("steps", "order")
        },
    }
    choices = {
        SignalKind.CO_ACCESS: _OF_CHANGES if type is MemoryType.CAUSAL_DEPENDENCY else _OF_READS,
        SignalKind.ERROR_RETRY: _RESOLVED if named.get("how") else _UNRESOLVED,
        SignalKind.REPEATED_GREP: _FOUND if named.get("found") else _NOT_FOUND,
        SignalKind.SELF_CORRECTION: _CORRECTED,
    }
    template = _TEMPLATES.get(sighting.kind) or choices[sighting.kind]
    return template.format_map(values)[:CONTENT_MOST]


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


def _part(text: str) -> str:
    return " ".join(text.split())[:PART_MOST].rstrip(". ")


def _sentence(text: str) -> str:
    kept = " ".join(text.split())[:PART_MOST]
    return kept if not kept or kept.endswith((".", "!", "?")) else f"{kept}."


def attributes(*, sighting: Sighting, type: MemoryType, sessions: int) -> Mapping[str, object]:
    """Return the fields of what a sighting becomes; empty where its type has none."""
    make = _MAKERS.get(type)
    return make(sighting, sessions) if make is not None else {}


def dead_end_attributes(*, found: DeadEnd) -> Mapping[str, object]:
    """Return the fields of a dead end; what is not known is left out."""
    given = {
        "approach": found.approach,
        "why_it_failed": found.why_it_failed,
        "alternative": found.alternative,
        "context": found.task,
    }
    return {name: text for name, text in given.items() if text.strip()}


def _recipe(sighting: Sighting, sessions: int) -> Mapping[str, object]:
    steps = sighting.details.get("steps", "").split("\n")
    return {
        "task_pattern": steps[0],
        "steps": tuple(
            {"order": order, "description": description}
            for order, description in enumerate(steps, 1)
        ),
        "success_count": sessions,
    }


def _prefetch(sighting: Sighting, sessions: int) -> Mapping[str, object]:
    module = file_paths.module(path=sighting.files[0])
    return {
        "always_read": sighting.files,
        "trigger_module": module or sighting.files[0],
        "sessions": sessions,
    }


def _calibration(sighting: Sighting, sessions: int) -> Mapping[str, object]:
    """Return steps against the plan, or runs of tests against one run."""
    named = sighting.details
    planned = int(named.get("planned", "1"))
    actual = int(named.get("actual", named.get("runs", "1")))
    return {
        "module": named.get("module") or "project",
        "planned": planned,
        "actual": actual,
        "ratio": round(actual / planned, 2),
        "samples": sessions,
    }


_MAKERS: Final[Mapping[MemoryType, Callable[[Sighting, int], Mapping[str, object]]]] = {
    MemoryType.WORKFLOW_RECIPE: _recipe,
    MemoryType.PREFETCH_PATTERN: _prefetch,
    MemoryType.TASK_CALIBRATION: _calibration,
}
