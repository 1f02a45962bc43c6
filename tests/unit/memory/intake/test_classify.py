"""Type and structure by the form of a text, files and modules from its words."""

import pytest

from memory.intake import classify as classification
from memory.intake.classify import Classification, TypeBasis
from memory.taxonomy import Governance, MemoryType, Structure


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
    ],
)
def test_structure_is_detected_in_the_specified_order(content: str, structure: Structure) -> None:
    assert classification.structure_of(content=content) is structure


def test_a_module_is_the_nearest_telling_folder() -> None:
    modules = {"src/auth/token.py": "auth", "auth/src/x.ts": "auth", "README.md": "", "./a.py": ""}

    assert {path: classification.module_of(path=path) for path in modules} == modules
