"""What work begins with: what was left unfinished, the files to read first, and stated rules.

Delivered once a session, and again only to one that ended and goes on. The first two stand as text
before the memories of such work; rules that the person stated in earlier sessions and nobody has
reviewed yet come with them, the newest ones.

Work goes on in the same session, in its thread or its unit of work; on its branch or in its folder
only where the same person opened both. A session that still runs left nothing. Work that followed
external content is offered to nobody else; its own person is given only the files of it. The plan
of files rests on what sessions that the caller may see have read.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from django.db.models import Q

from accounts.caller import Caller
from memory.experiments.points import OF_A_PLAN, POINTS, Point
from memory.injection import queries, rules
from memory.injection.actions import deliver, delivery_log
from memory.injection.actions.deliver import OPENING, Delivery
from memory.injection.actions.policy import Recipient
from memory.sessions import counter_rows, counters, file_paths
from memory.sessions import queries as sessions
from memory.sessions.actions import scratchpads
from memory.sessions.actions.lifecycle import IDLE_MINUTES
from memory.sessions.events import Outcome
from memory.sessions.models import Session, Statistic
from memory.sessions.scratchpad import Scratchpad
from memory.text import tokens
from memory.text.text import normalize
from teams import visibility

MODULE_MEMORIES_MOST: Final = 20  # memories of the modules; default, not measured
RULES_MOST: Final = 3  # of its person that wait for review, the newest; default
MODULES_MOST: Final = 5  # of a task, the first; default
LONGEST_TEXT: Final = 400  # characters of a task or an error that is delivered; default
OFTEN: Final = {True: "nearly every session", False: "most sessions"}


def had_start(*, session: Session) -> bool:
    """Say whether a session had its first message; one that ended and goes on has another."""
    at = session.prefetched_at
    return at is not None and (session.ended_at is None or session.ended_at <= at)


def deliver_start(
    *,
    recipient: Recipient,
    modules: tuple[str, ...],
    unfinished: rules.WorkState | None,
    tokens_most: int = rules.TOKENS_MOST,
) -> tuple[Delivery, rules.FilePlan]:
    """Deliver to a locked session what its work begins with, and return its plan. In a unit."""
    session, point = recipient.session, Point.SESSION_START
    histories = tuple(_module_history(recipient, module) for module in modules)
    plan = rules.plan_files(modules=histories)
    work, files = _unfinished_text(unfinished), _plan_text(plan)
    room = min(POINTS[point].tokens - plan.tokens, tokens_most) - tokens.count(text=OPENING) - 1
    texts = filter(None, (f"{work}{files}", work, files))
    heading = next((one for one in texts if tokens.count(text=one) <= room), "")
    known = deliver.of_modules(
        recipient=recipient, modules=modules, types=OF_A_PLAN, limit=MODULE_MEMORIES_MOST
    )
    stated = deliver.of_memories(
        recipient=recipient,
        memory_ids=queries.stated_rules(
            caller=recipient.caller, project_id=session.project_id, limit=RULES_MOST
        ),
    )
    start = rules.CandidateSet(heading=heading, reserved=plan.tokens, tokens_most=tokens_most)
    candidates = deliver.merge(sets=(stated, known, start))
    delivery = deliver.deliver(recipient=recipient, point=point, candidates=candidates)
    if not delivery.is_late and (delivery.text or plan.files or unfinished):
        session.prefetched_at = recipient.now
        session.save(update_fields=["prefetched_at"])
        paths = (one.path for one in plan.files)
        delivery_log.record_suggested_files(session=session, paths=paths)
    return delivery, plan


def modules_of(*, named: tuple[str, ...] = (), files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of a task: those it names, then those of the files it works on."""
    clean = (one.strip().strip("/") for one in named)
    touched = (
        file_paths.module(path=path) for path in files if not file_paths.is_outside(path=path)
    )
    return tuple(dict.fromkeys(one for one in (*clean, *touched) if one))[:MODULES_MOST]


def unfinished_work(*, caller: Caller, session: Session, is_new: bool) -> rules.WorkState | None:
    """Return what was left unfinished where a session goes on; None for nothing. In a unit.

    Of a session itself what it left counts, unless it is new or has no events. `is_new`: a program
    has just begun to report it; its own work counts only where it had ended and goes on.
    """
    is_own_work = session.ended_at is not None if is_new else bool(session.events)
    before = session if is_own_work else _session_before(caller, session)
    if before is None:
        return None
    scratchpad = scratchpads.settled(opened=scratchpads.read(row=before))
    state = rules.work_state(scratchpad=scratchpad, branch=before.branch, at=before.active_at)
    if state is not None and _is_finished(before, scratchpad, state):
        return None
    if state is not None and scratchpad.taint is not None:
        if not sessions.is_own(caller=caller, row=before):
            return None
        state = replace(state, task="", last_error="")
    return state


def _is_finished(before: Session, scratchpad: Scratchpad, state: rules.WorkState) -> bool:
    """Say whether an agent ended its turn after its last change, and left no error. In a unit.

    What it said then is not read: an agent that is interrupted says nothing any more.
    """
    if state.last_error or scratchpad.outcome in {Outcome.FAILURE, Outcome.ABANDONED}:
        return False
    last = max((one.sequence for one in scratchpad.deeds.values() if one.is_edit), default=0)
    return sessions.is_replied(session_id=before.id, after=last)


def _unfinished_text(work: rules.WorkState | None) -> str:
    """Write unfinished work as text that stands before memories; empty for none."""
    if work is None:
        return ""
    where = f" on the branch {normalize(text=work.branch)}" if work.branch else ""
    lines = [f"Work left unfinished{where}, {work.at:%Y-%m-%d %H:%M} UTC, at step {work.step}:"]
    if work.task:
        lines.append(f"- task: {normalize(text=work.task)[:LONGEST_TEXT]}")
    lines.extend(f"- changed: {normalize(text=path)}" for path in work.files)
    if work.last_error:
        lines.append(f"- last error: {normalize(text=work.last_error)[:LONGEST_TEXT]}")
    return "\n".join(lines) + "\n"


def _session_before(caller: Caller, session: Session) -> Session | None:
    """Return the last session whose work may go on in this one, of those the caller may see."""
    same = Q(pk__in=())
    if session.thread:
        same |= Q(thread=session.thread)
    if session.work_unit:
        same |= Q(work_unit=session.work_unit)
    if session.branch:
        same |= Q(branch=session.branch) & sessions.opened_by_caller(caller=caller)
    elif session.cwd:
        same |= Q(cwd=session.cwd, branch="") & sessions.opened_by_caller(caller=caller)
    idle = Q(active_at__lt=session.active_at - timedelta(minutes=IDLE_MINUTES))
    rows = sessions.opened_before(caller=caller, row=session)
    rows = rows.filter(same, ~Q(state="open") | idle)
    rows = rows.exclude(pk__in=scratchpads.carried(row=session).parts)  # to its agent one session
    return rows.order_by("-active_at", "-id").first()


def _plan_text(plan: rules.FilePlan) -> str:
    """Write a plan as text that stands before memories; empty for no file."""
    lines = [
        f"- {normalize(text=one.path)} ({OFTEN[one.always]}, about {one.tokens} tokens)"
        for one in plan.files
    ]
    return "\n".join(("Files that sessions on these modules read:", *lines, "")) if lines else ""


def _module_history(recipient: Recipient, module: str) -> rules.ModuleHistory:
    """Add up what is counted of a module and its files, over all audiences of the caller."""
    keys = (counters.key_of(text=module),)
    total = counters.ModuleRow(module=module)
    counted = _counters(recipient, counters.Kind.MODULE, keys=keys)
    for row in counters.rows_of(type=counters.ModuleRow, sums=counted):
        total = counters.added_row(row=total, add=row)
    files: dict[str, counters.FileRow] = {}
    counted = _counters(recipient, counters.Kind.FILE, under=f"{module}/")
    for file in counters.rows_of(type=counters.FileRow, sums=counted):
        if file_paths.module(path=file.path) == module:
            before = files.get(file.path, counters.FileRow(path=file.path))
            files[file.path] = counters.added_row(row=before, add=file)
    return total, tuple(files.values())


def _counters(
    recipient: Recipient,
    kind: counters.Kind,
    *,
    keys: tuple[str, ...] | None = None,
    under: str = "",
) -> tuple[Statistic, ...]:
    return counter_rows.read(
        kind=kind.value,
        visible=visibility.as_q(sight=visibility.sight_of(caller=recipient.caller)),
        project_id=recipient.session.project_id,
        keys=keys,
        under=under,
    )
