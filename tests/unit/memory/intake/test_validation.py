"""Fields and payloads are checked one by one; type follows from the form of text."""

from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.errors import InvalidInput
from memory.intake import classify as classification
from memory.intake.classify import Classification, TypeBasis
from memory.intake.validation import (
    LISTS,
    LONGEST,
    PAYLOADS,
    NewMemory,
    check_attributes,
    check_fields,
)
from memory.taxonomy import Governance, MemoryType, Structure

NESTED: dict[str, Any] = {}
for _ in range(2_000):
    NESTED = {"a": NESTED}
STEP = {"order": 1, "description": "Write the serializer.", "file": "api.py", "line": 3}
RIGHT: dict[MemoryType, dict[str, object]] = {
    MemoryType.WORKFLOW_RECIPE: {
        "task_pattern": "adding a new endpoint", "steps": [STEP], "success_count": 4,
        "last_validated_at": "2026-03-01T10:00:00+00:00",
    },
    MemoryType.DEAD_END: {"approach": "mock the clock", "why_it_failed": "threads read it"},
    MemoryType.PREFETCH_PATTERN: {
        "always_read": ["auth.ts"], "often_read": [], "trigger_module": "auth", "sessions": 5,
    },
    MemoryType.TASK_CALIBRATION: {
        "module": "auth", "planned": 10, "actual": 15.5, "ratio": 1.55, "samples": 4,
    },
    MemoryType.WORK_UNIT_OUTCOME: {"succeeded": True, "steps": 12, "retries": 0},
    MemoryType.E2E_OBSERVATION: {"ui_behavior": "the dialog closes", "test_sequence": ["open"]},
}  # fmt: skip


def _codes(type: MemoryType, attributes: dict[str, object]) -> dict[str, str]:
    return {e.pointer: e.code for e in check_attributes(type=type, attributes=attributes)}


def _with(type: MemoryType, **given: object) -> dict[str, str]:
    return _codes(type, {**RIGHT[type], **given})


def test_a_payload_has_its_required_fields_and_no_others_or_none() -> None:
    for type, (required, _optional) in PAYLOADS.items():
        assert _codes(type, RIGHT[type]) == _codes(type, {}) == {}
        for field in required:
            without = {name: value for name, value in RIGHT[type].items() if name != field}
            assert not without or _codes(type, without) == {f"/attributes/{field}": "required"}
        assert _with(type, aproach="x") == {"/attributes/aproach": "unknown"}
        assert _with(type, **{next(iter(required)): None}) == {
            f"/attributes/{next(iter(required))}": "required"
        }
    (told,) = check_attributes(
        type=MemoryType.DEAD_END, attributes={**RIGHT[MemoryType.DEAD_END], "aproach": "x"}
    )
    assert "approach" in told.detail  # the names that are known
    assert _codes(MemoryType.CONTEXT_COST, {"tokens": 1200}) == {}  # a type without a payload


WRONG: tuple[tuple[MemoryType, str, tuple[object, ...]], ...] = (
    (MemoryType.DEAD_END, "approach", ("  ", 3)),
    (MemoryType.WORK_UNIT_OUTCOME, "succeeded", (1,)),
    (MemoryType.WORK_UNIT_OUTCOME, "retries", (True, -1, 3.0)),
    (MemoryType.TASK_CALIBRATION, "samples", (3.0,)),
    (MemoryType.TASK_CALIBRATION, "ratio", (float("nan"), float("inf"), "10", True)),
    (MemoryType.PREFETCH_PATTERN, "always_read", ("auth.ts",)),
    (MemoryType.WORKFLOW_RECIPE, "steps", ([],)),
    (MemoryType.WORKFLOW_RECIPE, "last_validated_at",
     ("2026-03-01T10:00:00", "yesterday", 20260301)),
)  # fmt: skip


def test_a_wrong_value_is_named_and_a_wrong_step_pointed_at() -> None:
    for type, field, values in WRONG:
        for value in values:
            found = _with(type, **{field: value})
            assert found == {f"/attributes/{field}": "wrong_type"}, (field, value)

    assert _with(MemoryType.WORKFLOW_RECIPE, steps=[STEP, {"order": 2}, "third"]) == {
        "/attributes/steps/1/description": "required",
        "/attributes/steps/2": "wrong_type",
    }


def _faults(**given: Any) -> list[str]:
    fields = {"content": "Carts expire after a day of rest.", "source": "user_taught", **given}
    with pytest.raises(InvalidInput) as refused:
        check_fields(new=NewMemory(**fields))
    return [error.pointer for error in refused.value.errors]


def test_texts_and_lists_have_their_limits_and_hold_no_odd_characters() -> None:
    for name, longest in LONGEST.items():
        for text in ("x" * (longest + 1), "x\x00"):
            assert _faults(**{name: text}) == [f"/{name}"]
    for name, (most, longest) in LISTS.items():
        assert _faults(**{name: ("fine", "", "x" * (longest + 1))}) == [f"/{name}/1", f"/{name}/2"]
        assert _faults(**{name: ("x",) * (most + 1)}) == [f"/{name}"]
    marks = tuple(f"own_type:t{number}" for number in range(65))
    assert _faults(related_files=marks) == ["/related_files"]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"content": "A NUL \x00 in the middle of a sentence."}, "/content"),
        ({"event_at": datetime(2201, 1, 1, tzinfo=UTC)}, "/event_at"),
        ({"content": "A lone surrogate \ud800 in the middle."}, "/content"),
        ({"type": "nonsense"}, "/type"),
        ({"scope": "galaxy"}, "/scope"),
        ({"reach": "far"}, "/reach"),
        ({"source": "rumor"}, "/source"),
        ({"confidence": 1.5}, "/confidence"),
        ({"confidence": float("nan")}, "/confidence"),
        ({"source_line": -1}, "/source_line"),
        ({"source_line": 2**31}, "/source_line"),
        ({"event_at": datetime(2026, 1, 1)}, "/event_at"),  # noqa: DTZ001  that is what is wrong
        ({"event_at": datetime.fromisoformat("9999-12-31T23:59:59-05:00")}, "/event_at"),
        ({"event_at": datetime(1899, 12, 31, tzinfo=UTC)}, "/event_at"),
        ({"attributes": {"n": float("nan")}}, "/attributes"),
        ({"attributes": {"n": {1, 2}}}, "/attributes"),
        ({"attributes": {"deep": NESTED}}, "/attributes"),
        ({"attributes": {"n": "x" * 20_001}}, "/attributes"),
        ({"attributes": {"n": {"m": ["\x00"]}}}, "/attributes/n/m/0"),
        ({"attributes": {"\x00": 1}}, "/attributes"),
        ({"type": "dead_end", "attributes": {"odd": 1}}, "/attributes/approach"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_field_is_named(given: dict[str, Any], pointer: str) -> None:
    assert _faults(**given)[0] == pointer


def test_several_faults_are_told_at_once() -> None:
    found = _faults(tags=("",), confidence=2.0, phase="x" * 21)

    assert set(found) == {"/tags/0", "/confidence", "/phase"}


TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"tags": ("fine", TOKEN)}, "/tags/1"),
        ({"related_files": (f"https://user:{TOKEN}@host/x",)}, "/related_files/0"),
        ({"external_id": TOKEN}, "/external_id"),
        ({"source_uri": f"https://x/?token={TOKEN}"}, "/source_uri"),
        ({"attributes": {"env": [f"GITHUB={TOKEN}"]}}, "/attributes/env/0"),
        ({"type": "dead_end", "attributes": {TOKEN: 1}}, "/attributes"),
        ({"attributes": {f"pwd={TOKEN}": 1, TOKEN: [{"env": f"X={TOKEN}"}]}}, "/attributes"),
        ({"attributes": {"db_password": "Tractor!4711vio"}}, "/attributes/db_password"),
        ({"attributes": {"a": {"client_secret": ["x", TOKEN[4:]]}}},
         "/attributes/a/client_secret/1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_secret_is_refused_and_not_repeated(given: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_fields(new=NewMemory(content="Carts expire.", source="user_taught", **given))

    first = refused.value.errors[0]
    assert (first.pointer, first.code) == (pointer, "secret")
    assert TOKEN not in f"{refused.value.detail} {refused.value.errors}"
    named = "db_password" in given.get("attributes", {})
    assert not named or "at line 1, column 1." in str(first.detail)


def test_texts_side_by_side_make_no_secret() -> None:
    tags = ("password:", "w1nter-2026", "ghp_16C7e42F292c", "6912E7710c838347Ae178B4a")

    check_fields(new=NewMemory(content="Carts expire.", source="user_taught", tags=tags))


def _classify(content: str, type: MemoryType | None = None) -> Classification:
    return classification.classify(
        content=content, type=type, tags=(), files=("api/auth.py",), modules=(), pinned=False
    )


@pytest.mark.parametrize(
    ("content", "type", "basis"),
    [
        ("To release:\n\n1. Bump the version.\n2. Tag the commit.", "workflow_recipe", "form"),
        ("1. `v2` is old.\n2. The other is newer than that.", "fact", "default"),
        ("Never call flush() in a loop.", "requirement", "form"),
        ("Make sure the importer supports gzip.", "requirement", "form"),
        ("Start it so:\n```bash\nmake run\n```", "tool", "form"),
        ("It is called so:\n```python\nrun()\n```", "fact", "default"),
        ("We decided to use Postgres instead of MySQL.", "fact", "default"),
        ("My name is Alex and I write short messages.", "fact", "default"),
    ],
)
def test_only_the_form_of_a_text_tells_a_type(content: str, type: str, basis: str) -> None:
    result = _classify(content)

    assert (result.type, result.type_basis) == (type, basis)


def test_a_given_type_is_believed_and_named_files_follow_the_given_ones() -> None:
    result = _classify("Change src/billing/tax.py with api/auth.py.", MemoryType.GOTCHA)

    assert (result.type, result.type_basis) == (MemoryType.GOTCHA, TypeBasis.GIVEN)
    assert result.governance is Governance.FACTUAL
    assert result.files == ("api/auth.py", "src/billing/tax.py")
    assert result.modules == ("api", "billing")


@pytest.mark.parametrize(
    ("content", "structure"),
    [
        ("host: db1\nport: 5432", Structure.LEDGER),
        ("timeout = 3\nretries = 5", Structure.LEDGER),
        ("note: only one pair", Structure.NARRATIVE),
        ("Shipped on 2026-03-01 at last", Structure.TIMELINE),
        ("Deployed on 12 March 2026.", Structure.TIMELINE),
        ("Déployé le 1er mars 2026.", Structure.TIMELINE),
        ("It may 3 times retry", Structure.NARRATIVE),
        ("- services\n  - auth\n  - billing", Structure.TAXONOMY),
        ("Dog\nparent: Mammal\nMammal\nparent: Animal", Structure.TAXONOMY),
    ],
)
def test_structure_is_detected_in_the_specified_order(content: str, structure: Structure) -> None:
    assert classification.structure_of(content=content) is structure


def test_a_module_is_the_nearest_telling_folder() -> None:
    modules = {"src/auth/token.py": "auth", "auth/src/x.ts": "auth", "README.md": "", "./a.py": ""}

    assert {path: classification.module_of(path=path) for path in modules} == modules


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("The cart lives in `src/cart/model.py`, its test in tests/test_cart.py.",
         ("src/cart/model.py", "tests/test_cart.py")),
        ("Accepts and/or, I/O, application/json and store/recall/forget.", ()),
        ("POST /api/v1/memories.json and `/etc/passwd` and ~/.local/share/x.md", ()),
        ("See ../layout.md and ./sync.md, not ../../../outside.md",
         ("docs/layout.md", "docs/guides/sync.md")),
        ("Built by deploy/web/Dockerfile with notifications/roots/list_changed",
         ("deploy/web/Dockerfile",)),
    ],
)  # fmt: skip
def test_only_paths_that_look_like_files_of_the_project_are_its_files(
    text: str, files: tuple[str, ...]
) -> None:
    assert classification.named_files(text=text, document="docs/guides/a.md") == files
