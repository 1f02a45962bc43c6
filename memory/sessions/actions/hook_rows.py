"""What hooks tell of a session beside its transcript: one session, and nothing in it twice.

Hooks tell an event when it happens, in few words; a transcript tells it later, in all words and in
its place. Rows of hooks have a block of numbers behind the lines of transcripts, so they come after
all that a transcript has told so far. When it tells the same, the row moves to its line and takes
its words; what the transcript has told already, hooks add no more. The same is the same call of a
tool, or the same words: of one side, in their order, within a minute where hooks come late. A call
that brought outside content is never replaced by one that brought none.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import orjson
from django.db.models import Q

from memory import sql_queries
from memory.sessions import reducers, tools
from memory.sessions.actions import scratchpads
from memory.sessions.events import Event, EventKind, from_row, to_row
from memory.sessions.models import Session, Stream, Turn

FILE: Final = "sessions/sql/sessions.sql"
FIRST: Final = reducers.FIRST_OF_HOOKS
END: Final = reducers.FIRST_BLOCK - 1  # the last of them; subagents of transcripts lie above
TOLD_LAST: Final = 2_000  # of a transcript that hooks are compared with; default, not measured
LATE_SECONDS: Final = 60  # that hooks come behind a transcript at most; default, not measured
SPOKEN: Final = (EventKind.PROMPT.value, EventKind.REASONING.value)
OF_HOOKS: Final = Q(sequence__range=(FIRST, END))

Key = tuple[str, str]  # the kind of an event, and its call or its words
Masked = tuple[Event, tuple[str, ...]]


def is_of_hooks(*, sequence: int) -> bool:
    """Say whether a number is one that hooks give."""
    return FIRST <= sequence <= END


def adopt(*, row: Session, new: Iterable[Masked], now: datetime) -> list[Masked]:
    """Move rows of hooks to where a transcript tells the same; return what is left. In a unit."""
    events = list(new)
    rows = _of_hooks(row, [event for event, _ in events])
    left: list[Masked] = []
    moved: list[dict[str, object]] = []
    for event, masked in events:
        same = rows.get(_key(event.kind.value, event.call, event.text))
        if not same or is_of_hooks(sequence=event.sequence) or _erases(row, same[0], event):
            left.append((event, masked))
            continue
        at = now.timestamp() if event.at_seconds is None else event.at_seconds
        moved.append({
            "old": same.pop(0).sequence,
            "sequence": event.sequence,
            "body": to_row(event=event),
            "masked": len(masked),
            "at": datetime.fromtimestamp(at, tz=now.tzinfo),
        })  # fmt: skip
    if moved:
        first = min(event.sequence for event, _ in events)
        ((row.folded,),) = sql_queries.rows(
            "adopt",
            file=FILE,
            session=row.id,
            done=Stream.DONE.value,
            checkpoint=Stream.CHECKPOINT.value,
            events=orjson.dumps(moved).decode(),
            first=min(first, FIRST),  # what holds rows of hooks holds what has moved
        )
    return left


def untold(*, row: Session, new: Iterable[Masked], now: datetime) -> tuple[Masked, ...]:
    """Return what hooks tell that the session's transcript has not told already. In a unit.

    They are no more than seconds late, so the last that it told is enough, however long it is.
    """
    events = tuple(new)
    told = sql_queries.rows(
        "told",
        file=FILE,
        session=row.id,
        done=Stream.DONE.value,
        first=FIRST,
        end=END,
        most=TOLD_LAST,
        calls=sorted({event.call for event, _ in events} - {""}),
        spoken=list(SPOKEN),
        since=now - timedelta(seconds=LATE_SECONDS),
    )
    known = {_key(kind, call or "", text or "") for kind, call, text in told}
    return tuple(
        one for one in events if _key(one[0].kind.value, one[0].call, one[0].text) not in known
    )


def adopt_turns(*, row: Session, new: dict[int, Turn], last: int) -> dict[int, Turn]:
    """Move turns of hooks to where a transcript says the same; return what is left. In a unit.

    `last` is the highest number so far: that of a turn of hooks, where any is left.
    """
    if not is_of_hooks(sequence=last):
        return new
    theirs: defaultdict[Key, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(OF_HOOKS, session=row).order_by("sequence"):
        theirs[_key(turn.role, "", turn.text)].append(turn)
    left: dict[int, Turn] = {}
    moved: list[Turn] = []
    unread: list[int] = []
    for sequence, turn in new.items():
        same = theirs.get(_key(turn.role, "", turn.text))
        if not same or is_of_hooks(sequence=sequence):
            left[sequence] = turn
            continue
        kept = same.pop(0)
        if kept.sequence > row.taken_through:
            unread.append(sequence)
        kept.sequence = sequence
        moved.append(kept)
    Turn.objects.bulk_update(moved, ["sequence"])
    if unread and min(unread) <= row.taken_through:  # else nobody would read them
        row.taken_through = min(unread) - 1
        row.save(update_fields=["taken_through"])
    return left


def is_told(*, row: Session, role: str, text: str, now: datetime) -> bool:
    """Say whether a session's transcript has just said what hooks say now. In a unit."""
    since = now - timedelta(seconds=LATE_SECONDS)
    said = Turn.objects.filter(session=row, role=role, at__gte=since).exclude(OF_HOOKS)
    return _key(role, "", text) in {
        _key(role, "", one) for one in said.order_by().values_list("text", flat=True)
    }


def _of_hooks(row: Session, events: list[Event]) -> dict[Key, list[Event]]:
    """Return the events of hooks' rows that may tell the same, by what they tell, in order."""
    calls = sorted({event.call for event in events} - {""})
    rows = Turn.done.filter(OF_HOOKS, session=row)
    rows = rows.filter(Q(body__call__in=calls) | Q(body__kind__in=SPOKEN)).order_by("sequence")
    found: defaultdict[Key, list[Event]] = defaultdict(list)
    for sequence, body in rows.values_list("sequence", "body"):
        event = from_row(sequence=sequence, row=body or {})
        found[_key(event.kind.value, event.call, event.text)].append(event)
    return dict(found)


def _erases(row: Session, old: Event, new: Event) -> bool:
    """Say whether a call that brought outside content would become one that brought none."""
    if old.kind is not EventKind.TOOL_CALL:
        return False
    place = scratchpads.setting_of(row=row)
    was, now = (
        tools.read(event=event, root=place.root, folder=place.folder).taint for event in (old, new)
    )
    return bool(was) and not now


def _key(kind: str, call: str, text: str) -> Key:
    """Return by what a row is known again: its call, or its words whatever the spaces."""
    return kind, call or " ".join(text.split())
