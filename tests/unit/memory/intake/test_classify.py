"""Type by markers, structure by patterns, files and modules from the text."""

import pytest

from memory.intake import classify as classification
from memory.intake.classify import Classification, TypeBasis
from memory.taxonomy import Governance, MemoryType, Structure


def _classify(content: str, type: MemoryType | None = None) -> Classification:
    return classification.classify(
        content=content, type=type, tags=(), files=("api/auth.py",), modules=(), pinned=False
    )


@pytest.mark.parametrize(
    ("content", "type"),
    [
        ("We decided to use Postgres instead of MySQL.", "decision"),
        ("Correction: the limit applies to each project.", "correction"),
        ("Maria prefers small pull requests.", "preference"),
        ("The importer must support gzip files.", "requirement"),
        ("Beware: the cache silently drops keys over 1 MB.", "gotcha"),
        ("Never call flush() in a loop because it blocks.", "gotcha"),
        ("Import fails with ModuleNotFoundError on Alpine.", "error_pattern"),
        ("The flaky login was fixed by awaiting the socket.", "fix"),
        ("Tried sqlite for the queue but it failed under load.", "dead_end"),
        ("When changing models.py you must also edit the serializer.", "causal_dependency"),
        ("The billing module is responsible for invoices.", "module_insight"),
        ("My name is Alex and I write short messages.", "identity"),
        ("Migration in progress, next step is the backfill.", "work_state"),
        ("The runbook for failover can be found in the wiki.", "reference"),
        ("The auth service uses JWT tokens with RS256 signing.", "fact"),
    ],
)
def test_markers_tell_the_type(content: str, type: str) -> None:
    assert classification.type_of(content=content)[0] == type


def test_a_given_type_is_believed() -> None:
    result = _classify("We decided to use Postgres.", MemoryType.GOTCHA)

    assert (result.type, result.type_basis) == (MemoryType.GOTCHA, TypeBasis.GIVEN)
    assert result.governance is Governance.FACTUAL


def test_a_text_without_markers_is_a_fact_by_default() -> None:
    result = _classify("Tokens are rotated every 90 days.")

    assert (result.type, result.type_basis) == (MemoryType.FACT, TypeBasis.DEFAULT)


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
        ("First build, then deploy", Structure.TIMELINE),
        ("First come, served", Structure.NARRATIVE),
        ("- services\n  - auth\n  - billing", Structure.TAXONOMY),
        ("The child inherits the color", Structure.TAXONOMY),
        ("It simply works this way", Structure.NARRATIVE),
    ],
)
def test_structure_is_detected_in_the_specified_order(content: str, structure: Structure) -> None:
    assert classification.structure_of(content=content) is structure


def test_given_files_come_first_and_named_ones_follow_with_their_modules() -> None:
    result = _classify("Change src/billing/tax.py together with api/auth.py.")

    assert result.files == ("api/auth.py", "src/billing/tax.py")
    assert result.modules == ("api", "billing")


@pytest.mark.parametrize(
    ("path", "module"),
    [("src/auth/token.py", "auth"), ("auth/src/x.ts", "auth"), ("README.md", ""), ("./a.py", "")],
)
def test_a_module_is_the_nearest_telling_folder(path: str, module: str) -> None:
    assert classification.module_of(path=path) == module


def test_a_citation_and_the_entities_are_attached() -> None:
    result = _classify("Ask @maria. She knows.")

    assert result.citation == "Ask @maria."
    assert [span.text for span in result.entities] == ["@maria"]
