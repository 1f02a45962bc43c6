"""From a statement of a file to a candidate for the one door."""

from typing import Any, Final

from memory.documents.markdown import Statement
from memory.records.actions.candidate import NewMemory
from memory.taxonomy import MemoryType, Source

LONGEST_URI: Final = 500  # characters, the column's


def of_statement(
    *,
    statement: Statement,
    path: str,
    project: str,
    tags: tuple[str, ...],
    files: tuple[str, ...] = (),
) -> NewMemory:
    """Return the candidate of one statement; `path` and its line are its source."""
    return NewMemory(
        content=statement.content,
        type=statement.type.value,
        source=Source.IMPORT.value,
        project=project,
        external_id=statement.external_id,
        tags=tags,
        related_files=files,
        attributes=_payload(statement),
        source_uri=path[-LONGEST_URI:],
        source_line=statement.line,
    )


def _payload(statement: Statement) -> dict[str, Any]:
    if statement.type is not MemoryType.WORKFLOW_RECIPE or not statement.steps:
        return {}
    pattern = statement.content.partition("\n")[0].rstrip(":")
    steps = [{"order": i, "description": text} for i, text in enumerate(statement.steps, 1)]
    return {"task_pattern": pattern, "steps": steps}
