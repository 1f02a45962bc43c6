"""The tables of types, layers, phases and fusion, figure by figure: a change is deliberate.

`tables.json` has them as the specification does: types by name, kind, governance, half-life in days
and description; weights of fusion for dense, keyword, graph; budgets as tokens, shares, other.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memory import taxonomy
from memory.customization import phases
from memory.search import fusion

EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("tables.json").read_text())
FOUND: dict[str, Any] = {
    "types": [
        (row.type, row.kind, row.governance, row.half_life_days, row.says) for row in taxonomy.TYPES
    ],
    "floors": taxonomy.ACTIVATION_FLOORS,
    "sources": {row.source: row.trust_multiplier for row in taxonomy.SOURCES},
    "protected": sorted(taxonomy.PROTECTED_TAGS),
    "fusion": {
        kind: [weights[path] for path in ("dense", "keyword", "graph")]
        for kind, weights in fusion.WEIGHTS.items()
    },
    "phases": {phase: table.weights for phase, table in phases.TABLES.items()},
    "budgets": {
        phase: (table.budget.tokens, table.budget.shares, table.budget.other)
        for phase, table in phases.TABLES.items()
    },
    "native": phases.METHODOLOGIES["native"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_table_equals_the_specification(name: str) -> None:
    assert json.loads(json.dumps(_plain(FOUND[name]))) == EXPECTED[name]


def test_every_table_has_its_figures() -> None:
    assert list(FOUND) == list(EXPECTED)


def _plain(value: Any) -> Any:
    """Return a table with the values of its enums and without read-only mappings."""
    if isinstance(value, Mapping):
        return {getattr(key, "value", key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return getattr(value, "value", value)
