"""What one event changes in the scratchpad, one function a kind of event.

Called by the fold alone, on a copy of its own, in the order of sequence numbers. Constant time an
event, except where a full log lets its least telling deeds go, which pays for many events.

An error is recognized by the line that names it, without what changes from run to run (numbers,
addresses, quoted values, paths, branches, names made by chance), and by the program that said it.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from memory.sessions import event_parsing, file_paths, tools, turns
from memory.sessions.events import Event, EventKind, Outcome
from memory.sessions.scratchpad import Deed, Scratchpad, Setting, Taint, step_key, touched
from memory.sessions.tools import Act

CHARACTERS_A_TOKEN: Final = 3  # four count code 8 % low (packing_tokens)
FIRST_OF_HOOKS: Final = 2**29  # numbers of hooks; lines of transcripts lie below
FIRST_BLOCK: Final = 2**30  # where the numbers of subagents begin, the command line's

# Bounds of a scratchpad, and what is believed of events; defaults, not measured.
DEEDS_MOST: Final = 4_000  # tool calls kept
FILES_MOST: Final = 4_000  # files with counts
REMARKS_MOST: Final = 400  # sentences
STEPS_MOST: Final = 4_000  # steps with their cost
OPEN_MOST: Final = 64  # calls that wait for their result
PENDING_MOST: Final = 64  # events that wait for one before them
RECORDED_MOST: Final = 200  # entries that the agent recorded itself
GAPS_MOST: Final = 100  # runs of missing events, the last ones
COMMITS_MOST: Final = 100
REPORTS_MOST: Final = 100
WRITTEN_MOST: Final = 400  # files outside of the repository that a session wrote
FOUND_MOST: Final = 40  # paths a result names
PAUSE_MOST: Final = 600.0  # seconds that a pause counts at most
TASK_MOST: Final = 1_000  # characters of the first prompt kept
MESSAGE_MOST: Final = 500  # characters of a commit or report kept
LETS_GO_SHARE: Final = 4  # a full log lets one in so many go at once
STEPS_AN_EVENT: Final = 4  # more than that nobody is believed
TOKENS_A_STEP: Final = 10_000_000  # more than that nobody is believed
ERROR_LINE_MOST: Final = 240  # characters kept of the line that names an error
LINE_MOST: Final = 500  # characters looked at of a line
LINES_MOST: Final = 400  # of an output, from its end

TELLS_LEAST: Final = frozenset({Act.READ, Act.GLOB, Act.OTHER, Act.FOREIGN})
_FILES: Final = frozenset({Act.READ, Act.EDIT})
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})
_PATH: Final = re.compile(r"(?:^|[\s\"'(:])(/?(?:[\w.@~-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})\b")
_NAMED: Final = re.compile(r"(?<=[\w.])(?:Error|Exception|Warning)\b(?::|\Z)|\A(?:E  |panic:)")
_BEGINS: Final = re.compile(r"\A(?:error|fatal)\b|\berror(?:\[\w+\])?: |\A\*\* \(", re.IGNORECASE)
_OF_HOOK: Final = re.compile(
    r"\bpre-(?:commit|push)\b|\bcommit-msg\b|\bhook id: |\bhusky\b|\blefthook\b|\bcommitlint\b"
)
_OF_RUNNER: Final = re.compile(  # what a shell or a runner of scripts says of any failure
    r"\A(?:Error: )?(?:Command failed.{0,40})?(?:Process )?exit(?:ed)?(?: with)?(?: code| status)?"
    r":? \d|\Ahint: |\A(?:npm (?:error|ERR!) (?:Lifecycle script|code|path|workspace|location|errno"
    r"|syscall|command|A complete log|in workspace)\b)|\Amake(?:\[\d+\])?: \*\*\*|\bELIFECYCLE\b"
    r"|\Aerror: (?:script \"|Command failed with exit)|\A(?:Chunk ID|Wall time|Output"
    r"|Original token count):",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    r"error|fatal|failed|failure|not found|no such|denied|refused|cannot|timed? ?out|unable"
    r"|invalid|conflict",
    re.IGNORECASE,
)
_STYLE: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_VARIABLE: Final = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{8,}\b"
    r"|(?<=\bbranch )\S+|\b(?=[a-z_]{0,20}\d)\w{8,}\b|\d+(?:\.\d+)*"
    r"|\"[^\"]*\"|'[^']*'|`[^`]*`|(?:(?<![\w.~-])[\w.~-]*)?(?<!/)/(?:[\w.~-]{0,100}/)*[\w.-]+",
    re.IGNORECASE,
)
_COUNTED_FAILURES: Final = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?)\b|^(?:FAIL|FAILED|--- FAIL)\b"
    r"|\bTests?:\s+[1-9]\d* failed",
    re.MULTILINE,
)
_EXIT: Final = re.compile(
    r"\A\s*(?:Error: )?(?:Command failed.{0,40})?[Ee]xit(?:ed with)?(?: code| status)?:? [1-9]"
)


def apply(*, state: Scratchpad, event: Event) -> None:
    """Change the state by an event whose turn has come; clock and step never run back."""
    state.current_step = max(state.current_step, _believed(state, event.step))
    if event.at_seconds is not None:
        if state.last_at_seconds is not None:
            state.clock += min(max(event.at_seconds - state.last_at_seconds, 0.0), PAUSE_MOST)
        state.last_at_seconds = event.at_seconds
    if event.kind is EventKind.UNKNOWN:
        state.unknown += 1
    else:
        _HANDLERS[event.kind](state, event)


def _believed(state: Scratchpad, steps: int) -> int:
    """Return a number of steps, 0 for one that is too large for the events there were."""
    return steps if steps <= STEPS_AN_EVENT * state.applied else 0


def _on_call(state: Scratchpad, event: Event) -> None:
    setting = state.setting
    reading = tools.read(
        event=event, root=setting.root, folder=setting.folder, written=state.written
    )
    deed = Deed(
        sequence=event.sequence,
        step=event.step,
        act=reading.act,
        name=event.name,
        target=reading.target,
        agent=event.agent,
        line=event.arguments.line,
        before=event.arguments.before,
        after=event.arguments.after,
        added=event.arguments.added,
        clock=state.clock,
        at_seconds=event.at_seconds,
        also=reading.also,
    )
    state.deeds[event.sequence] = deed
    state.open_calls.pop(_call_key(event), None)
    state.open_calls[_call_key(event)] = event.sequence
    if len(state.open_calls) > OPEN_MOST:  # the oldest is given up
        del state.open_calls[next(iter(state.open_calls))]
    _note_taint(state, event, reading.taint)
    _note_written(state, event, reading)
    if reading.act in _FILES and reading.target:
        # of too many files those touched longest ago without an edit go
        for path in (deed.target, *deed.also):
            state.files[path] = touched(known=state.files.get(path), deed=deed)
        while len(state.files) > FILES_MOST:
            uses = (
                (min(use.edits, 1), use.last_sequence, path) for path, use in state.files.items()
            )
            del state.files[min(uses)[2]]
    if reading.act is Act.RECORD:
        state.recorded = (*state.recorded, _shortened(state, event))[-RECORDED_MOST:]
    if len(state.deeds) > DEEDS_MOST:
        _let_go(state)


def _call_key(event: Event) -> str:
    return f"#{event.call}" if event.call else f"{event.agent}\0{event.name}"


def _note_taint(state: Scratchpad, event: Event, reason: str) -> None:
    """Note the earliest event from which on outside content may be in view.

    Numbers of one run follow time. Those of a transcript's subagents lie behind all of the main
    agent's, who learns what one saw at some point after sending it: all since the first one was
    sent counts, or all of the session if nobody knows when.
    """
    is_beside = event.sequence > FIRST_BLOCK
    if not (is_beside or event.agent or state.sent) and tools.is_sending(name=event.name):
        state.sent = event.sequence
    sequence = state.sent if is_beside else event.sequence
    if reason and (state.taint is None or sequence < state.taint.sequence):
        state.taint = Taint(sequence=sequence, step=event.step, reason=reason)


def _let_go(state: Scratchpad) -> None:
    """Let the oldest deeds go that tell least, a quarter of the log at once."""
    count = len(state.deeds) // LETS_GO_SHARE
    order = sorted(
        state.deeds.values(),
        key=lambda deed: (deed.act not in TELLS_LEAST or deed.is_error, deed.sequence),
    )
    for deed in order[:count]:
        del state.deeds[deed.sequence]
    state.dropped += count


def _note_written(state: Scratchpad, event: Event, reading: tools.ToolReading) -> None:
    """Keep which outside files a call writes as a whole; from then on the session's own."""
    made = reading.writes
    is_outside = file_paths.is_outside(path=reading.target)
    if is_outside and reading.act is Act.EDIT and tools.is_whole(event=event):
        made = (*made, reading.target)
    if made and len(state.written) < WRITTEN_MOST:
        state.written |= frozenset(made)


def _count_tokens(state: Scratchpad, deed: Deed, event: Event) -> None:
    """Keep how long a file that was read without an error is, as its result shows."""
    use = state.files.get(deed.target) if deed.act is Act.READ else None
    if use is not None and event.text and not event.is_error:
        length = event_parsing.full_length(text=event.text)
        tokens = max(use.tokens, math.ceil(length / CHARACTERS_A_TOKEN))
        state.files[deed.target] = replace(use, tokens=tokens)


def _on_result(state: Scratchpad, event: Event) -> None:
    called = state.open_calls.pop(_call_key(event), None)
    if called not in state.deeds:
        state.orphans += 1
        return
    deed = state.deeds[called]
    _count_tokens(state, deed, event)
    is_test = deed.act is Act.TEST
    digest = message = ""
    is_error = event.is_error or says_failure(text=event.text, is_test=is_test)
    if is_error:
        is_command = is_test or deed.act is Act.RUN
        program = tools.program(command=deed.target) if is_command else deed.act.value
        digest, message = fingerprint_of(program=program, text=event.text)
    seconds = event.took_seconds
    is_timed = event.at_seconds is not None and event.at_seconds != deed.at_seconds
    if seconds is None and is_timed:  # none where call and result were told in one breath
        seconds = max(state.clock - deed.clock, 0.0)
    state.deeds[deed.sequence] = replace(
        deed,
        is_done=True,
        is_error=is_error,
        fingerprint=digest,
        message=message,
        found=() if is_error else _paths_found(deed, event.text, state.setting),
        seconds=seconds,
    )


def _paths_found(deed: Deed, text: str, setting: Setting) -> tuple[str, ...]:
    """Return the paths that a search found."""
    if deed.act not in _SEARCHES:
        return ()
    root, folder = setting.root, setting.folder
    matches = _PATH.findall(text)
    named = (file_paths.relative(path=one, root=root, folder=folder) for one in matches)
    return tuple(dict.fromkeys(named))[:FOUND_MOST]


def _on_prompt(state: Scratchpad, event: Event) -> None:
    """Keep the task from the first prompt; look for corrections in the later ones."""
    state.prompts += 1
    if state.prompts == 1:
        state.task = event.text[:TASK_MOST]
    else:
        _add_remarks(state, event)


def _add_remarks(state: Scratchpad, event: Event) -> None:
    is_prompt = event.kind is EventKind.PROMPT
    found = turns.find_remarks(
        speaker=turns.Speaker.USER if is_prompt else turns.Speaker.ASSISTANT,
        sequence=event.sequence,
        step=event.step,
        text=event.text,
        agent="" if is_prompt else event.agent,
    )
    state.remarks = (*state.remarks, *found)[-REMARKS_MOST:]


def _on_step(state: Scratchpad, event: Event) -> None:
    key = step_key(agent=event.agent, step=event.step)
    state.steps[key] = event.tokens if event.tokens <= TOKENS_A_STEP else 0
    if len(state.steps) > STEPS_MOST:
        del state.steps[next(iter(state.steps))]


def _on_end(state: Scratchpad, event: Event) -> None:
    """Note how the session ended; a subagent's end is none, and what says nothing takes nothing."""
    if event.agent:
        return
    if state.outcome is None or event.outcome is not Outcome.UNKNOWN:
        state.outcome = event.outcome
    state.steps_done = _believed(state, event.steps) or state.steps_done


def _on_post(state: Scratchpad, event: Event) -> None:
    """Keep a commit, or a report of QA."""
    if event.kind is EventKind.COMMIT:
        state.commits = (*state.commits, _shortened(state, event))[-COMMITS_MOST:]
    else:
        state.reports = (*state.reports, _shortened(state, event))[-REPORTS_MOST:]


def _shortened(state: Scratchpad, event: Event) -> Event:
    """Return an event as it is kept: the beginning of its text, files by their names."""
    root = state.setting.root
    files = tuple(file_paths.relative(path=path, root=root) for path in event.files)
    return replace(event, text=event.text[:MESSAGE_MOST], files=files)


_HANDLERS: Final[dict[EventKind, Callable[[Scratchpad, Event], None]]] = {
    EventKind.TOOL_CALL: _on_call,
    EventKind.TOOL_RESULT: _on_result,
    EventKind.REASONING: _add_remarks,
    EventKind.PROMPT: _on_prompt,
    EventKind.STEP_COMPLETE: _on_step,
    EventKind.SESSION_COMPLETE: _on_end,
    EventKind.COMMIT: _on_post,
    EventKind.QA_REPORT: _on_post,
}


def fingerprint_of(*, program: str, text: str) -> tuple[str, str]:
    """Return what an error is recognized by, and the line of its output that names it.

    It is the last line that names an error, or the first that begins with one, or that speaks of
    one, or the first; of git the first that names a hook. One that ends with a colon has the next
    one with it. What a runner of scripts says of any failure tells nothing, where there is more.
    Some programs write `\\n` for the end of a line.
    """
    plain = _STYLE.sub("", text).replace("\\n", "\n")
    cut = (line.strip()[:LINE_MOST] for line in plain.splitlines()[-LINES_MOST:])
    lines = [line for line in cut if line]
    telling = [line for line in lines if not _OF_RUNNER.search(line)]
    message = next(chain(_error_lines(program, telling), telling, lines), "")
    if message.endswith(":"):
        place = lines.index(message) + 1
        message = " ".join((message, *lines[place : place + 1]))
    message = message[:ERROR_LINE_MOST]
    constant = _VARIABLE.sub("#", message).lower()
    digest = hashlib.blake2b(f"{program}\0{constant}".encode(), digest_size=8).hexdigest()
    return digest, message


def _error_lines(program: str, lines: list[str]) -> Iterator[str]:
    """Yield the lines that tell an error, the most telling first."""
    if program.startswith("git "):
        yield from filter(_OF_HOOK.search, lines)
    yield from filter(_NAMED.search, reversed(lines))
    yield from filter(_BEGINS.search, lines)
    yield from filter(_SAID.search, lines)


def says_failure(*, text: str, is_test: bool) -> bool:
    """Say whether an output tells of failure by its exit code or by the count of failed tests."""
    is_counted = is_test and _COUNTED_FAILURES.search(text) is not None
    return is_counted or _EXIT.match(text) is not None


# scratchpad = fold(events): pure, replayable, the same in any batching.
#
# Events are applied in the order of their sequence numbers. What comes too early waits for the
# events before it, up to a window of 64; a gap that outlasts the window, or the session, is
# passed over, and counted as far as it tells of something missing. What comes twice is counted
# and not applied. What comes after its gap was passed over is counted as late: the events as
# stored are all there, and `rebuild` puts it in its place.
#
# Each writer has a run of numbers of its own. Most count by ones, so what a gap leaves out is
# missing. A transcript's number follows from its line, and lines may say nothing, so no gap in
# its run tells of anything missing; its subagents have blocks of numbers far behind. Who begins
# more than a line's numbers behind the beginning of its run counts by lines.
#
# Time is only a hint. A session's clock adds up the pauses between events, each from 0 to ten
# minutes, so a clock that jumps or runs back neither orders anything nor makes an hour out of a
# second. A number of steps beyond four for each event applied so far is not believed: it goes
# into sums over sessions, and one that a program made up would outweigh all the others.

LINE: Final = 128  # numbers a line of a transcript, the command line's
BLOCK: Final = 2**21  # numbers of each subagent, the command line's


def fold(*, scratchpad: Scratchpad, events: Iterable[Event]) -> Scratchpad:
    """Return the state after some more events, in whatever order they came."""
    after = _copy(scratchpad)
    for event in events:
        if event.sequence == after.through + 1:
            _apply(after, event)
        elif event.sequence <= after.through:
            if any(first <= event.sequence <= last for first, last in after.gaps):
                after.late += 1
            else:
                after.twice += 1
        elif event.sequence in after.pending:
            after.twice += 1
        else:
            after.pending[event.sequence] = event
            if len(after.pending) > PENDING_MOST:
                _pass_gap(after)
    return after


def settle(*, scratchpad: Scratchpad) -> Scratchpad:
    """Return the state once nothing more comes: what waits is applied, gaps are passed over."""
    after = _copy(scratchpad)
    while after.pending:
        _pass_gap(after)
    return after


def rebuild(*, setting: Setting, events: Iterable[Event]) -> Scratchpad:
    """Return the settled state of all stored events, however they came."""
    ordered = sorted(events, key=lambda event: event.sequence)
    return settle(scratchpad=fold(scratchpad=Scratchpad(setting=setting), events=ordered))


def _pass_gap(state: Scratchpad) -> None:
    """Give up the events missing before the first that waits, and go on from that one."""
    first = min(state.pending)
    start = 0  # the number before the first that its writer may give
    if first > FIRST_BLOCK:
        start = first - 1 - (first - 1 - FIRST_BLOCK) % BLOCK
    if state.through <= start:
        state.by_lines = first - start > LINE
    if not state.by_lines:
        state.missing += first - 1 - max(state.through, start)
    state.gaps = (*state.gaps, (state.through + 1, first - 1))[-GAPS_MOST:]
    _apply(state, state.pending.pop(first))


def _apply(state: Scratchpad, event: Event) -> None:
    """Apply an event, and those that waited for it."""
    following: Event | None = event
    while following is not None:
        state.through = following.sequence
        state.applied += 1
        apply(state=state, event=following)
        following = state.pending.pop(state.through + 1, None) if state.pending else None


def _copy(scratchpad: Scratchpad) -> Scratchpad:
    """Return a state of its own; what its dictionaries hold is frozen."""
    return replace(
        scratchpad,
        pending=dict(scratchpad.pending),
        deeds=dict(scratchpad.deeds),
        open_calls=dict(scratchpad.open_calls),
        files=dict(scratchpad.files),
        steps=dict(scratchpad.steps),
    )
