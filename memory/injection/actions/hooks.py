"""Follow an agent: keep what its program tells of a session, and give back what helps.

The session of the program is bound to one of ours once, by the program's own id; from then on it
stays in its project, wherever the agent goes. What people and agents say becomes turns, what tools
did becomes events, and no model is asked. Nothing is given to a program that does not wait for it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, RateLimited
from memory.injection.actions import hook_response
from memory.injection.actions.deliver import SILENCE, GivenBack
from memory.injection.actions.hook_response import Event, Prompt
from memory.injection.actions.recipient import Listener
from memory.injection.harnesses import events as injection_events
from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import Hearing
from memory.records.deadline import NEVER, Deadline
from memory.secrets import secret_catalog
from memory.sessions.actions import append_events, close, external_binding, scratchpads
from memory.sessions.actions.append_turns import LONGEST_TURN, Clean, NewTurn, cleaned, store
from memory.sessions.actions.external_binding import Whereabouts
from memory.sessions.models import Session
from memory.sessions.turns import Speaker
from teams import audit
from teams.permissions import Act, require

BEYOND: Final = 5_000  # characters behind the cut in which a secret may end, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """Which session it is, None where nothing was kept, and what is given back."""

    session_id: UUID | None = None
    back: GivenBack = SILENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """An event as it came: what was heard, from where, and until when its answer is waited for."""

    hearing: Hearing
    whereabouts: Whereabouts
    deadline: Deadline

    def event(self, row: Session) -> Event:
        """Return what the event asks for, with files by their names in the repository."""
        heard = self.hearing
        files = scratchpads.named(row=row, paths=heard.files, folder=heard.folder)
        return Event(files=files, is_answered=heard.meaning is Meaning.ANSWERED)

    def listener(self, row: Session) -> Listener:
        """Return which agent of the session is answered."""
        agent = external_binding.agent_of(hearing=self.hearing)
        return Listener(row=row, agent=agent, deadline=self.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What an event says and what it tells of the agent's doing, without secrets."""

    turns: tuple[Clean, ...]
    done: append_events.Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A session after an event was kept: what is given back, or the prompt of its brief."""

    row: Session
    back: GivenBack = SILENCE
    prompt: Prompt | None = None


def follow_agent(
    *,
    caller: Caller,
    hearing: Hearing,
    whereabouts: Whereabouts,
    now: datetime,
    deadline: Deadline = NEVER,
) -> Followed:
    """Keep what an agent's program tells, and return what is given back to its model.

    Behind the deadline nothing is given.

    Raises NotFound for a named project the caller cannot see, NotBoundToProject, InvalidInput.
    """
    require(caller=caller, act=Act.READ)
    require(caller=caller, act=Act.WRITE)
    if not hearing.session or hearing.meaning is Meaning.OTHER:
        return Followed()
    said = _Said(
        turns=cleaned(turns=_turns(hearing)),
        done=append_events.cleaned(events=injection_events.rows_of(hearing=hearing)),
    )
    ask = _Ask(hearing=hearing, whereabouts=whereabouts, deadline=deadline)
    try:
        with tenancy.unit(), transaction.atomic():
            kept = _keep(caller, ask, said, now)
    except IntegrityError:  # its other event bound it between our look and our write: find it
        with tenancy.unit():
            kept = _keep(caller, ask, said, now)
    if kept is None:
        return Followed()
    back = kept.back
    if kept.prompt is not None:
        back = hook_response.with_brief(
            caller=caller,
            listener=ask.listener(kept.row),
            event=ask.event(kept.row),
            prompt=kept.prompt,
            now=now,
        )
    return Followed(session_id=kept.row.id, back=back)


def _turns(hearing: Hearing) -> tuple[NewTurn, ...]:
    said = (
        (Speaker.USER, hearing.prompt if hearing.meaning is not Meaning.ENDED else ""),
        (Speaker.ASSISTANT, hearing.message),
    )
    return tuple(
        NewTurn(role=speaker.value, text=_cut(text)) for speaker, text in said if text.strip()
    )


def _cut(text: str) -> str:
    """Return a text that fits a turn; a secret that the cut would halve is taken out before."""
    if len(text) <= LONGEST_TURN:
        return text
    return secret_catalog.without_secrets(text=text[: LONGEST_TURN + BEYOND])[:LONGEST_TURN]


def _keep(caller: Caller, ask: _Ask, said: _Said, now: datetime) -> _Kept | None:
    """Bind, store, end, warn; None for the end of a session that nobody knows. In a unit."""
    hearing = ask.hearing
    if hearing.meaning is Meaning.ENDED:
        known = external_binding.known(caller=caller, hearing=hearing)
        return None if known is None else _end(caller, known, now)
    bound = external_binding.bind(
        caller=caller, hearing=hearing, whereabouts=ask.whereabouts, now=now
    )
    row = bound.row
    if said.turns:
        store(row=row, clean=said.turns, now=now)
    events, dropped = _done(row, said.done, now)
    if hearing.is_compacted:
        row.compacted_at = now
        row.save(update_fields=["compacted_at"])
    kept = _Kept(row=row)
    if hearing.is_told and hearing.waits:
        kept = _given(caller, ask, row, now)
    wrote = {
        "opened": int(bound.is_new),
        "compacted": int(hearing.is_compacted),
        "turns": len(said.turns),
        "events": events,
        "dropped": dropped,
    }
    _tell(caller, kept, wrote)
    return kept


def _done(row: Session, clean: append_events.Clean, now: datetime) -> tuple[int, int]:
    """Store what was done; return how many events were stored, and how many had no room.

    What was said stays, and warnings are given, whatever becomes of the events.
    """
    if not clean.events:
        return 0, 0
    try:
        return append_events.store_next(row=row, clean=clean, now=now), 0
    except (RateLimited, InvalidInput):
        return 0, len(clean.events)


def _end(caller: Caller, row: Session, now: datetime) -> _Kept:
    if row.state == "open":
        close.close(rows=(row,), now=now)
        _append(caller, row, {"ended": 1})
    return _Kept(row=row)


def _given(caller: Caller, ask: _Ask, row: Session, now: datetime) -> _Kept:
    listener = ask.listener(row)
    prompt = hook_response.prompt_due(caller=caller, listener=listener)
    if prompt is not None:
        return _Kept(row=row, prompt=prompt)
    back = hook_response.at_once(caller=caller, listener=listener, event=ask.event(row), now=now)
    return _Kept(row=row, back=back)


def _tell(caller: Caller, kept: _Kept, wrote: dict[str, int]) -> None:
    """Append one entry for whatever was written; a call that is only announced writes nothing."""
    told = {**wrote, "briefed": int(kept.prompt is not None), "given": len(kept.back.given)}
    if any(told.values()):
        _append(caller, kept.row, {name: count for name, count in told.items() if count})


def _append(caller: Caller, row: Session, details: dict[str, int]) -> None:
    audit.append(
        act="session.followed",
        object_type="session",
        object_id=str(row.id),
        caller=caller,
        details=details,
    )
