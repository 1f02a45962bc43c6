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

MOST: Final = 40  # candidates an answer, ours
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
EXTRACT: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _CANDIDATE,
                "required": [*_CANDIDATE],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}
EXTRACT_LEAST: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"memories": {"type": "array"}},
    "required": ["memories"],
}

JUDGED: Final = ("update", "contradicts", "extend", "derive", "none")
_RELATION: Final[Mapping[str, object]] = {
    "pair": {"type": "integer"},
    "relation": {"type": "string", "enum": [*JUDGED]},
    "certainty": {"type": "number"},
}
RELATE: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _RELATION,
                "required": [*_RELATION],
                "additionalProperties": False,
            },
        }
    },
    "required": ["relations"],
    "additionalProperties": False,
}
RELATE_LEAST: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"relations": {"type": "array"}},
    "required": ["relations"],
}

_PHRASE: Final[Mapping[str, object]] = {
    "signal": {"type": "integer"},
    "text": {"type": "string"},
}
PHRASE: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "phrases": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _PHRASE,
                "required": [*_PHRASE],
                "additionalProperties": False,
            },
        }
    },
    "required": ["phrases"],
    "additionalProperties": False,
}
PHRASE_LEAST: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"phrases": {"type": "array"}},
    "required": ["phrases"],
}

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
SYNTHESIZE: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "syntheses": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _SYNTHESIS,
                "required": [*_SYNTHESIS],
                "additionalProperties": False,
            },
        }
    },
    "required": ["syntheses"],
    "additionalProperties": False,
}
SYNTHESIZE_LEAST: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"syntheses": {"type": "array"}},
    "required": ["syntheses"],
}


@cache
def prompt(*, name: str) -> str:
    """Return the text of a prompt."""
    return (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
