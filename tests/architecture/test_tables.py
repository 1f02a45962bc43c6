"""The tables of types, layers, phases and fusion, figure by figure: a change is deliberate."""

from memory import taxonomy
from memory.customization import phases
from memory.search import fusion

# fmt: off
EXPECTED_TYPES = (  # type, kind, governance, half-life in days, says
    ("identity", "semantic", 1, None, "who someone or the assistant is"),
    ("chain_of_command", "semantic", 1, None, "who decides what"),
    ("decision", "semantic", 2, None, "a choice and its rationale"),
    ("correction", "semantic", 2, None, "a fix of something believed before"),
    ("commitment", "semantic", 2, None, "a promise"),
    ("requirement", "semantic", 2, None, "what must hold"),
    ("preference", "semantic", 2, None, "how a person or project likes it"),
    ("fact", "semantic", 3, 90, "a statement about the world"),
    ("reference", "semantic", 3, 90, "where to look"),
    ("tool", "semantic", 3, 90, "how a tool is used"),
    ("person", "semantic", 3, 180, "about a person"),
    ("gotcha", "semantic", 3, 60, "a trap, a non-obvious constraint"),
    ("error_pattern", "semantic", 3, 60, "a recurring error and its fix"),
    ("fix", "procedural", 3, 60, "what resolved a problem"),
    ("pattern", "procedural", 3, 180, "a reusable way to build"),
    ("workflow_recipe", "procedural", 3, 120, "ordered steps for a kind of task"),
    ("module_insight", "semantic", 3, 90, "what a module is for"),
    ("dead_end", "semantic", 3, 90, "an approach that failed, and why"),
    ("causal_dependency", "structural", 3, 120, "change A, then B must change"),
    ("prefetch_pattern", "structural", 3, 120, "files read together"),
    ("task_calibration", "structural", 3, 180, "actual against planned steps of a module"),
    ("context_cost", "structural", 3, 180, "tokens a module costs"),
    ("work_unit_outcome", "episodic", 4, 90, "how a unit of work ended"),
    ("e2e_observation", "episodic", 4, 30, "what the running product did"),
    ("work_state", "episodic", 4, 7, "where unfinished work stands"),
    ("event", "episodic", 4, 14, "something that happened"),
    ("episode", "episodic", 4, 14, "a verbatim turn"),
    ("reflection", "reflective", 2, None, "a periodic look at what was learned"),
)
EXPECTED_FLOORS = {1: 5.0, 2: 2.0, 3: -0.5, 4: -2.0}  # by layer
EXPECTED_SOURCES = (
    ("user_taught", 1.4), ("agent_explicit", 1.2), ("qa_auto", 1.1),
    ("tool_auto", 1.0), ("commit_auto", 1.0), ("import", 1.0),
    ("observer_inferred", 0.85), ("extracted", 0.85),
)
EXPECTED_PROTECTED = {
    "correction", "decision", "identity", "emotional_anchor",
    "commitment", "exact_value", "chain_of_command", "person",
}
EXPECTED_FUSION = (  # query kind, dense, keyword, graph
    ("identifier", 0.20, 0.50, 0.30),
    ("semantic", 0.50, 0.25, 0.25),
    ("structural", 0.15, 0.25, 0.60),
)
EXPECTED_PHASES = {
    "define": {
        "workflow_recipe": 1.4, "dead_end": 1.2, "requirement": 1.2, "decision": 1.1,
        "task_calibration": 1.1, "gotcha": 0.8, "error_pattern": 0.8,
    },
    "implement": {
        "gotcha": 1.4, "error_pattern": 1.3, "causal_dependency": 1.2, "dead_end": 1.2,
        "pattern": 1.1, "prefetch_pattern": 1.1,
    },
    "validate": {
        "error_pattern": 1.4, "e2e_observation": 1.4, "requirement": 1.2,
        "work_unit_outcome": 1.1,
    },
    "refine": {"error_pattern": 1.3, "gotcha": 1.2, "dead_end": 1.2, "pattern": 1.0},
    "explore": {
        "module_insight": 1.4, "decision": 1.2, "pattern": 1.1, "causal_dependency": 1.0,
    },
    "reflect": {"work_unit_outcome": 1.4, "task_calibration": 1.3, "dead_end": 1.1},
}
EXPECTED_BUDGETS = {  # tokens, shares, other
    "define": (2500, {
        "workflow_recipe": 0.30, "requirement": 0.20, "decision": 0.20, "dead_end": 0.15,
        "task_calibration": 0.10,
    }, 0.05),
    "implement": (3000, {
        "gotcha": 0.30, "error_pattern": 0.25, "causal_dependency": 0.15, "pattern": 0.15,
        "dead_end": 0.10,
    }, 0.05),
    "validate": (2500, {
        "error_pattern": 0.30, "requirement": 0.25, "e2e_observation": 0.25,
        "work_unit_outcome": 0.15,
    }, 0.05),
    "refine": (2000, {
        "error_pattern": 0.35, "gotcha": 0.25, "dead_end": 0.20, "pattern": 0.15,
    }, 0.05),
    "explore": (2000, {
        "module_insight": 0.40, "decision": 0.25, "pattern": 0.20, "causal_dependency": 0.15,
    }, 0.0),
    "reflect": (1500, {
        "work_unit_outcome": 0.40, "task_calibration": 0.35, "dead_end": 0.15,
    }, 0.10),
}
EXPECTED_NATIVE = {
    "planning": "define", "spec": "define", "coding": "implement", "qa_review": "validate",
    "qa_fix": "refine", "debugging": "refine", "insights": "explore",
}
# fmt: on


def test_types_equal_the_spec() -> None:
    rows = tuple(
        (row.type.value, row.kind.value, row.governance.value, row.half_life_days, row.says)
        for row in taxonomy.TYPES
    )

    assert rows == EXPECTED_TYPES


def test_floors_of_layers_equal_the_spec() -> None:
    assert taxonomy.ACTIVATION_FLOORS == EXPECTED_FLOORS


def test_sources_equal_the_spec() -> None:
    rows = tuple((row.source.value, row.trust_multiplier) for row in taxonomy.SOURCES)

    assert rows == EXPECTED_SOURCES


def test_protected_tags_equal_the_spec() -> None:
    assert taxonomy.PROTECTED_TAGS == EXPECTED_PROTECTED


def test_fusion_weights_equal_the_spec() -> None:
    rows = tuple(
        (kind.value, *(weights[path] for path in ("dense", "keyword", "graph")))
        for kind, weights in fusion.WEIGHTS.items()
    )

    assert rows == EXPECTED_FUSION


def test_phase_weights_equal_the_spec() -> None:
    rows = {
        phase.value: {type.value: weight for type, weight in table.weights.items()}
        for phase, table in phases.TABLES.items()
    }

    assert rows == EXPECTED_PHASES


def test_phase_budgets_equal_the_spec() -> None:
    rows = {
        phase.value: (
            table.budget.tokens,
            {type.value: share for type, share in table.budget.shares.items()},
            table.budget.other,
        )
        for phase, table in phases.TABLES.items()
    }

    assert rows == EXPECTED_BUDGETS


def test_native_phases_equal_the_spec() -> None:
    native = {name: phase.value for name, phase in phases.METHODOLOGIES["native"].items()}

    assert native == EXPECTED_NATIVE
