"""The shapes of models' answers: what they are asked for, and what is taken of it.

`EXTRACT`, `RELATE`, `PHRASE` or `SYNTHESIZE` is sent with the request. What comes back must at
least be a list of objects (`EXTRACT_LEAST` and so on); each of them is then checked alone, so one
that is wrong does not cost the others.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from memory.taxonomy import MemoryType

MOST: Final = 40  # candidates an answer; default, not measured
RELATIONS: Final = ("new", "update", "extend", "derive")
KEPT_TYPES: Final = tuple(  # what a conversation can teach; the others are made in other ways
    type.value
    for type in MemoryType
    if type
    not in {
        MemoryType.EPISODE,
        MemoryType.REFLECTION,
        MemoryType.CHAIN_OF_COMMAND,
        MemoryType.PREFETCH_PATTERN,
        MemoryType.TASK_CALIBRATION,
        MemoryType.CONTEXT_COST,
        MemoryType.WORK_UNIT_OUTCOME,
    }
)


def _list_of(name: str, fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of an object with one list, of objects with all of these fields."""
    item = {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }
    return {**_least(name, item), "additionalProperties": False}


def _least(name: str, item: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the schema of an object with a list, of whatever by default."""
    entries: dict[str, object] = {"type": "array"}
    if item is not None:
        entries["items"] = item
    return {"type": "object", "properties": {name: entries}, "required": [name]}


_WORDS: Final[Mapping[str, object]] = {"type": "array", "items": {"type": "string"}}
_CANDIDATE: Final[Mapping[str, object]] = {
    "turn": {"type": "integer"},
    "text": {"type": "string"},
    "type": {"type": "string", "enum": [*KEPT_TYPES]},
    "topics": _WORDS,
    "importance": {"type": "number"},
    "entities": _WORDS,
    "files": _WORDS,
    "relation": {"type": "string", "enum": [*RELATIONS]},
    "event_time": {"type": ["string", "null"]},
}
EXTRACT: Final = _list_of("memories", _CANDIDATE)
EXTRACT_LEAST: Final = _least("memories")

JUDGED: Final = ("update", "contradicts", "extend", "derive", "none")
_RELATION: Final[Mapping[str, object]] = {
    "pair": {"type": "integer"},
    "relation": {"type": "string", "enum": [*JUDGED]},
    "certainty": {"type": "number"},
}
RELATE: Final = _list_of("relations", _RELATION)
RELATE_LEAST: Final = _least("relations")

_PHRASE: Final[Mapping[str, object]] = {
    "signal": {"type": "integer"},
    "text": {"type": "string"},
}
PHRASE: Final = _list_of("phrases", _PHRASE)
PHRASE_LEAST: Final = _least("phrases")

SYNTHESIZED: Final = tuple(  # what the sums of a module can teach
    type.value
    for type in (
        MemoryType.CAUSAL_DEPENDENCY,
        MemoryType.ERROR_PATTERN,
        MemoryType.GOTCHA,
        MemoryType.MODULE_INSIGHT,
        MemoryType.PREFETCH_PATTERN,
        MemoryType.TASK_CALIBRATION,
    )
)
_SYNTHESIS: Final[Mapping[str, object]] = {
    "facts": {"type": "array", "items": {"type": "integer"}},
    "type": {"type": "string", "enum": [*SYNTHESIZED]},
    "text": {"type": "string"},
}
SYNTHESIZE: Final = _list_of("syntheses", _SYNTHESIS)
SYNTHESIZE_LEAST: Final = _least("syntheses")


@cache
def prompt(*, name: str) -> str:
    """Return the text of a prompt."""
    return (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
