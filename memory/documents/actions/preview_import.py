"""Say what an import would do, row by row; nothing is stored."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from memory.documents.actions import importing
from memory.documents.actions.importing import Judged, Upload
from memory.documents.candidates import FileRead
from memory.records.actions import candidate
from memory.records.actions.candidate import Place
from memory.records.models import Memory
from teams.permissions import Act, require

ADDED, CONFIRMED, UPDATED, REFUSED = "added", "confirmed", "updated", "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRow:
    """What would become of one statement; the content of a refused one is left out."""

    number: int
    file: str
    line: int | None
    type: str
    content: str
    tags: tuple[str, ...]
    outcome: str
    gate: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What was found in an upload, and what would become of it."""

    files: tuple[FileRead, ...]
    rows: tuple[PreviewRow, ...]
    counts: Mapping[str, int]


def preview_import(*, caller: Caller, upload: Upload) -> ImportPreview:
    """Look at an upload without storing anything.

    Raises TooLarge, InvalidInput for an upload of which nothing can be taken, NotFound.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        place_of(caller=caller, upload=upload)  # before anything is read for nothing
    found = importing.read(upload=upload)
    judged = importing.judge(caller=caller, upload=upload, found=found)
    rows = tuple(_rows(caller, upload, judged))
    counts = Counter(row.outcome for row in rows)
    return ImportPreview(files=found.files, rows=rows, counts=counts)


def _rows(caller: Caller, upload: Upload, judged: tuple[Judged, ...]) -> Iterator[PreviewRow]:
    texts, external = _stored(caller, upload, judged)
    for one in judged:
        outcome = REFUSED
        if one.drafted is not None:
            outcome = _outcome(one, texts, external)
            texts.add(one.drafted.content_hash)
            external.setdefault(one.drafted.new.external_id, one.drafted.content_hash)
        yield _row(one, outcome)


def _stored(
    caller: Caller, upload: Upload, judged: tuple[Judged, ...]
) -> tuple[set[str], dict[str, str]]:
    """Return which texts the place has already, and the text of each known external id."""
    drafted = [one.drafted for one in judged if one.drafted is not None]
    with tenancy.unit():
        where = place_of(caller=caller, upload=upload)
        hashes = [one.content_hash for one in drafted]
        ids = [one.new.external_id for one in drafted if one.new.external_id]
        rows = Memory.objects.filter(
            Q(content_hash__in=hashes) | Q(external_id__in=ids),
            audience=where.audience,
            project=where.project,
            status="active",
        ).values_list("external_id", "content_hash")
        found = tuple(rows)
    return {digest for _, digest in found}, {name: digest for name, digest in found if name}


def place_of(*, caller: Caller, upload: Upload) -> Place:
    """Find where the memories of an upload go. In a unit. Raises NotFound, InvalidInput."""
    new = candidate.NewMemory(
        content="", source="import", project=upload.project, scope=upload.scope, team=upload.team
    )
    return candidate.place(caller=importing.as_importer(caller=caller), new=new)


def _outcome(one: Judged, texts: set[str], external: dict[str, str]) -> str:
    drafted = one.drafted
    if drafted is None:
        return REFUSED
    known = external.get(drafted.new.external_id) if drafted.new.external_id else None
    if known is not None:
        return CONFIRMED if known == drafted.content_hash else UPDATED
    return CONFIRMED if drafted.content_hash in texts else ADDED


def _row(one: Judged, outcome: str) -> PreviewRow:
    seen = one.drafted
    return PreviewRow(
        number=one.number,
        file=one.file,
        line=one.line,
        type=seen.classification.type.value if seen else "",
        content=seen.new.content if seen else "",
        tags=seen.new.tags if seen else (),
        outcome=outcome,
        gate=one.gate,
        reason=one.reason,
        hint=one.hint,
    )
