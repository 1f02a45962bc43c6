"""Say what would become of a text before it is stored: for the Teach panel.

Nothing is written and no access is logged. A text with a secret in it is not embedded.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.entities import names
from memory.entities.names import Name
from memory.index.actions import embedding
from memory.index.sql import search_rows
from memory.intake.actions import candidate
from memory.intake.actions.candidate import CheckedCandidate
from memory.intake.classify import TypeBasis
from memory.intake.validation import NewMemory
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.secrets import findings
from teams.permissions import Act, require

SIMILAR_LIMIT: Final = 3
MOST_NAMES: Final = 8  # things named in the text that are shown; default, not measured
SIMILAR_COSINE: Final = 0.55  # cosine from which a neighbor is worth showing; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A memory close in meaning; cosine 0..1."""

    memory: MemoryView
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What classification and the secret scan find, and what is close already.

    `basis` says why it has its type; `redacted` is the text with each secret replaced by its kind.
    """

    type: str
    basis: TypeBasis
    citation: str
    files: tuple[str, ...]
    modules: tuple[str, ...]
    names: tuple[Name, ...]
    secrets: tuple[str, ...]
    redacted: str
    similar: tuple[Similar, ...]


def preview(*, caller: Caller, new: NewMemory, now: datetime) -> Preview:
    """Look at a candidate without storing it. Raises InvalidInput, NotFound."""
    require(caller=caller, act=Act.READ)
    checked = candidate.check_candidate(caller=caller, new=new)
    seen = checked.classification
    return Preview(
        type=seen.type.value,
        basis=seen.type_basis,
        citation=seen.citation,
        files=seen.files,
        modules=seen.modules,
        names=() if checked.findings else names.names_of(spans=seen.entities)[:MOST_NAMES],
        secrets=tuple(sorted(kind.value for kind in findings.kinds(findings=checked.findings))),
        redacted=findings.redact(text=new.content, findings=checked.findings),
        similar=() if checked.findings else _similar(caller, checked, now),
    )


def _similar(caller: Caller, checked: CheckedCandidate, now: datetime) -> tuple[Similar, ...]:
    seen = checked.classification
    text = embedding.text_of(
        files=seen.files, modules=seen.modules, type=seen.type.value, content=checked.new.content
    )
    embedded = embedding.embed_inline(text=text)
    if embedded is None:
        return ()
    with tenancy.unit():
        model_id, key = embedding.active_model()
        if key != embedded.key:
            return ()
        where = candidate.find_placement(caller=caller, new=checked.new)
        found = search_rows.nearest(
            model_id=model_id,
            vector=embedded.vector,
            audience=where.audience,
            project_id=where.project.id if where.project else None,
            limit=SIMILAR_LIMIT,
        )
        close = {key: cosine for key, cosine in found if cosine >= SIMILAR_COSINE}
        views = memories.by_ids(caller=caller, memory_ids=tuple(close), now=now)
    return tuple(
        Similar(memory=views[key], cosine=cosine) for key, cosine in close.items() if key in views
    )
