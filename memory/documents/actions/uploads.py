"""Read an upload and judge each of its statements, without storing anything; preview it.

A preview and a run judge alike: every statement is checked, scanned and classified as any other
candidate, so one that holds a secret is never stored, not even to wait. What a file says is
nobody's word in person: it confirms nothing as a person would and founds nothing.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, TooLarge, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.documents import file_formats, queries, reading, statement_changes
from memory.documents.markdown_notes import statement_ids
from memory.documents.statement_changes import PlacedStatement
from memory.intake import integrate
from memory.intake.actions import candidate as intake_candidate
from memory.intake.validation import NewMemory
from memory.records.models import Memory
from memory.secrets import scanner
from memory.taxonomy import Source, SourceInterface
from teams.permissions import Act, require

LARGEST_UPLOAD: Final = 50 * 1_048_576  # bytes of all files together; default, not measured
MOST_FILES: Final = 1_000  # files handed in at once; a zip is one
IMPORTER: Final = "import"  # who writes, beside the person
FORMAT: Final = "format"  # the gate of what cannot be read
INPUT: Final = "input"  # the gate of what is malformed
CARRIED: Final = (
    "content", "type", "external_id", "confidence", "pinned", "source_uri", "source_hash",
    "source_line", "commit_sha", "thread", "session", "position",
)  # fmt: skip
FORMER: Final = "former_external_id"  # in a candidate: of the wording whose place it takes
NEW: Final = ("added", "updated")  # what becomes of new words, also in the place of others
TRUSTED: Final = "is_trusted"  # in a candidate: it waits for nobody's review
TAINT: Final = "taint"  # in a candidate: what outside content its sender has seen
NAMES_AT_ONCE: Final = 500  # of files, in one query
MOST_LINKS: Final = 100  # of one statement, and names by which others link to it
LISTS: Final = ("tags", "related_files", "related_modules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Files with their names, where their memories go, and which rows are left out, by number.

    What is trusted waits for no review: said at the machine alone. `taint` is the outside content
    that its sender's sessions have seen.
    """

    files: tuple[tuple[str, bytes], ...]
    project: str | None = None
    scope: str | None = None
    team: str | None = None
    left_out: frozenset[int] = frozenset()
    is_trusted: bool = False
    taint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedStatement:
    """What would become of one statement; the text of a refused one is not kept.

    `given` is the candidate as it waits in its row, None for a refused one.
    """

    number: int
    file: str
    line: int | None
    type: str = ""
    content: str = ""
    tags: tuple[str, ...] = ()
    outcome: str = "refused"
    gate: str = ""
    reason: str = ""
    hint: str = ""
    content_hash: str = ""
    given: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What was found in an upload, and what would become of it."""

    files: tuple[file_formats.FileRead, ...]
    rows: tuple[JudgedStatement, ...]
    counts: Mapping[str, int]


def preview_import(*, caller: Caller, upload: Upload) -> ImportPreview:
    """Look at an upload without storing anything.

    Raises TooLarge, InvalidInput for an upload of which nothing can be taken, NotFound.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        place = find_place(caller=caller, upload=upload)  # before anything is read for nothing
    found = read_upload(upload=upload)
    judged = judge_statements(caller=caller, upload=upload, found=found)
    with tenancy.unit():
        judged = mark_replaced(place=place, judged=judged)
    hashes = [one.content_hash for one in judged if one.given]
    names = [one.given["external_id"] for one in judged if one.given and one.given["external_id"]]
    with tenancy.unit():
        rows_there = Memory.objects.filter(
            Q(content_hash__in=hashes) | Q(external_id__in=names),
            audience=place.audience,
            project=place.project,
            status="active",
        )
        known = tuple(rows_there.values_list("external_id", "content_hash"))
    rows = tuple(_foretell(judged, known))
    counts = Counter(row.outcome for row in rows)
    return ImportPreview(files=found.files, rows=rows, counts=counts)


def _foretell(
    judged: tuple[JudgedStatement, ...], known: tuple[tuple[str, str], ...]
) -> Iterator[JudgedStatement]:
    """Yield the statements with what would become of them beside (external id, hash) there."""
    texts = {digest for _, digest in known}
    external = {name: digest for name, digest in known if name}
    for one in judged:
        if one.given is None:
            yield one
            continue
        name = one.given["external_id"]
        is_known = external.get(name, one.content_hash) == one.content_hash
        if name in external or one.content_hash in texts:
            outcome = "confirmed" if is_known else "updated"
        else:
            outcome = NEW[FORMER in one.given]
        yield replace(one, outcome=outcome)
        texts.add(one.content_hash)
        if name:
            external.setdefault(name, one.content_hash)


def as_importer(*, caller: Caller) -> Caller:
    """Return the caller as who writes what a file says."""
    agent = caller.agent or IMPORTER
    return replace(caller, agent=agent, source_interface=SourceInterface.IMPORT.value)


def read_upload(*, upload: Upload) -> file_formats.DocumentReading:
    """Read an upload. Raises TooLarge, and InvalidInput when nothing in it can be taken."""
    size = sum(len(data) for _, data in upload.files)
    if size > LARGEST_UPLOAD or len(upload.files) > MOST_FILES:
        raise TooLarge(
            detail=message("{size} bytes in {count} files.", size=size, count=len(upload.files)),
            hint=message(
                "Send at most {most} bytes in {files} files, or use the command import_memories.",
                most=LARGEST_UPLOAD,
                files=MOST_FILES,
            ),
        )
    if not upload.files:
        raise wrong_field(pointer="/file", detail="No file was sent.", code="required")
    found = _without_secrets(reading.read_all(files=upload.files))
    if not found.candidates and found.faults:
        first = found.faults[0]
        place = f"{first.file}:{first.line}" if first.line else first.file
        detail = message("{place}: {fault}", place=place, fault=first.detail)
        raise wrong_field(pointer="/file", detail=detail, code="unreadable")
    if not found.candidates:
        raise wrong_field(pointer="/file", detail="No statement was found in it.", code="empty")
    return found


def _without_secrets(found: file_formats.DocumentReading) -> file_formats.DocumentReading:
    """Return a reading whose file names hold no secret; they are told and stored."""
    names = {one.name for one in found.files} | {one.file for one in found.candidates}
    names |= {one.file for one in found.faults}
    shown = {
        name: scanner.without_secrets(text=name)[-file_formats.LONGEST_NAME :] for name in names
    }
    return file_formats.DocumentReading(
        files=tuple(replace(one, name=shown[one.name]) for one in found.files),
        candidates=tuple(replace(one, file=shown[one.file]) for one in found.candidates),
        faults=tuple(replace(one, file=shown[one.file]) for one in found.faults),
    )


def judge_statements(
    *, caller: Caller, upload: Upload, found: file_formats.DocumentReading
) -> tuple[JudgedStatement, ...]:
    """Send every statement through the gates that need no store; what cannot be read comes last."""
    importer = as_importer(caller=caller)
    judged = [
        _judge(importer, upload, number, one) for number, one in enumerate(found.candidates, 1)
    ]
    judged += (
        JudgedStatement(
            number=number, file=fault.file, line=fault.line, gate=FORMAT, reason=fault.detail
        )
        for number, fault in enumerate(found.faults, len(judged) + 1)
    )
    return tuple(judged)


def _judge(
    importer: Caller, upload: Upload, number: int, one: file_formats.DocumentCandidate
) -> JudgedStatement:
    row = partial(JudgedStatement, number=number, file=one.file, line=one.line)
    given = as_json(candidate=one)
    new = new_memory(upload=upload, given=given)
    try:
        drafted = intake_candidate.check_candidate(caller=importer, new=new)
    except (InvalidInput, Forbidden) as error:
        told = scanner.without_secrets(text=error.detail)
        reason = error.detail if told == error.detail else told
        return row(gate=INPUT, reason=reason, hint=error.hint)
    result = intake_candidate.gate(checked=drafted)
    if result.outcome is integrate.GateOutcome.REFUSED:
        gate = result.gate.value if result.gate else ""
        return row(gate=gate, reason=result.reason, hint=result.hint)
    return row(
        type=drafted.classification.type.value,
        content=drafted.new.content,
        tags=drafted.new.tags,
        content_hash=drafted.content_hash,
        given=given,
    )


def mark_replaced(
    *, place: intake_candidate.Placement, judged: tuple[JudgedStatement, ...]
) -> tuple[JudgedStatement, ...]:
    """Return the statements, those marked that say anew what the store has of the same file.

    Only of documents, whose ids are made of their words: an id that a client gave says itself what
    is the same. What people verified, pinned or protected keeps its words; what a file says now
    then stands beside it. In a unit; one query for 500 files.
    """
    by_file: defaultdict[str, list[PlacedStatement]] = defaultdict(list)
    for content, given in ((one.content, one.given) for one in judged if one.given):
        if given["external_id"].startswith(statement_ids(path=given["source_uri"])):
            by_file[given["source_uri"]].append(PlacedStatement(given["external_id"], content))
    stored: defaultdict[str, list[PlacedStatement]] = defaultdict(list)
    names = sorted(by_file)
    for start in range(0, len(names), NAMES_AT_ONCE):
        rows = queries.imported_statements(
            audience=place.audience,
            project_id=place.project_id,
            names=names[start : start + NAMES_AT_ONCE],
        )
        for name, external_id, content in rows:
            stored[name].append(PlacedStatement(external_id, content))
    replaced: dict[str, str] = {}
    for name, before in stored.items():
        if statement_changes.is_same_document(before=before, after=by_file[name]):
            replaced |= statement_changes.find_replaced(before=before, after=by_file[name])
    return tuple(_marked(one, replaced) for one in judged)


def _marked(one: JudgedStatement, replaced: Mapping[str, str]) -> JudgedStatement:
    former = replaced.get(one.given["external_id"]) if one.given else None
    return replace(one, given={**(one.given or {}), FORMER: former}) if former else one


def find_place(*, caller: Caller, upload: Upload) -> intake_candidate.Placement:
    """Find where the memories of an upload go. In a unit. Raises NotFound, InvalidInput."""
    new = NewMemory(
        content="", source="import", project=upload.project, scope=upload.scope, team=upload.team
    )
    return intake_candidate.find_placement(caller=as_importer(caller=caller), new=new)


def as_json(*, candidate: file_formats.DocumentCandidate) -> dict[str, Any]:
    """Return a candidate as it waits in its row.

    Names by which others link to it are only compared: their digests wait, no text of a file.
    """
    return {
        **{name: getattr(candidate, name) for name in CARRIED},
        **{name: list(getattr(candidate, name)) for name in LISTS},
        "attributes": dict(candidate.attributes),
        "event_at": candidate.event_at.isoformat() if candidate.event_at else None,
        "keys": [_digest(key) for key in candidate.keys[:MOST_LINKS]],
        "links": [[kind, _digest(target)] for kind, target in candidate.links[:MOST_LINKS]],
    }


def new_memory(*, upload: Upload, given: dict[str, Any]) -> NewMemory:
    """Return what goes through the door for a candidate written by `as_json`."""
    given = file_formats.completed(given)
    lists: dict[str, Any] = {name: tuple(given[name]) for name in LISTS}
    return NewMemory(
        **{name: given[name] for name in CARRIED},
        source=Source.IMPORT.value,
        project=upload.project,
        scope=upload.scope,
        team=upload.team,
        **lists,
        own_type=custom_type_rules.named(tags=lists["tags"]),
        attributes=given["attributes"],
        event_at=file_formats.read_time(text=given["event_at"]),
        former_external_id=given.get(FORMER, ""),
        needs_review=TRUSTED not in given,
        taint_reason=given.get(TAINT, upload.taint),
    )


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
