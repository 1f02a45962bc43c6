"""Signals in what work took and what went wrong: costs, errors, tests, corrections."""

import hashlib
import re
from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter
from statistics import median
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind, group, made
from memory.sessions import file_paths, tools
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act
from memory.sessions.turns import RemarkKind
from memory.text import text as texts

# Defaults, not measured.
LONGEST: Final = 6  # steps of a sequence
SHORTEST: Final = 3  # steps of a sequence
SEQUENCES_LEAST: Final = 2  # times that it was done
STEPS_MOST: Final = 1_500  # looked at for sequences, the last ones
SECONDS_LEAST: Final = 60.0  # of a slow call
SLOW_MEDIANS: Final = 4
TIMED_LEAST: Final = 5  # calls
OVERRUN_LEAST: Final = 1.5  # times the steps planned
MORE_LEAST: Final = 5  # steps beyond the plan
TOKENS_LEAST: Final = 4_000  # of a costly step
COSTLY_MEDIANS: Final = 3
COSTED_LEAST: Final = 5  # steps

_SAYS_LITTLE: Final = frozenset({"ls", "cd", "pwd", "echo", "cat", "git status", "git diff",
                                 "git log", "find", "wc", "which", "head", "tail"})  # fmt: skip
_COMMANDS: Final = frozenset({Act.RUN, Act.TEST})
_FILES: Final = frozenset({Act.READ, Act.EDIT})


def find_tool_sequence(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 7: the same sequence of steps done again: a recipe that nobody wrote down.

    Seen when three to six kinds of step, at least three of them different and one of them a
    command, occur in the same order at least twice without overlap. Reading and searching between
    them does not count, and the same step twice in a row is one. The longest sequences come first;
    their parts are not named again.
    """
    steps = [(word, deed) for deed in scratchpad.deeds.values() if (word := _word(deed))]
    if not steps:
        return
    different = [next(same) for _, same in groupby(steps, key=itemgetter(0))]
    words, deeds = zip(*different[-STEPS_MOST:], strict=True)
    taken: list[tuple[str, ...]] = []
    for length in range(LONGEST, SHORTEST - 1, -1):
        for sequence, starts in _repeated(words, length).items():
            if _is_part(sequence, taken):
                continue
            taken.append(sequence)
            last = deeds[starts[-1] : starts[-1] + length]
            yield made(
                SignalKind.TOOL_SEQUENCE,
                " > ".join(sequence),
                last,
                files=tuple(deed.target for deed in last if deed.act is Act.EDIT),
                times=len(starts),
                steps="\n".join(sequence),
            )


def _word(deed: Deed) -> str:
    """Return the kind of a step; empty for what is no step of a recipe."""
    if deed.is_error:
        return ""
    if deed.act is Act.EDIT:
        folder, _, name = deed.target.rpartition("/")
        return f"edit {folder + '/' if folder else ''}*.{name.rpartition('.')[2]}"
    if deed.act is Act.TEST:
        return "run tests"
    program = tools.program(command=deed.target) if deed.act is Act.RUN else ""
    return "" if not program or program in _SAYS_LITTLE else f"run {program}"


def _repeated(words: tuple[str, ...], length: int) -> dict[tuple[str, ...], list[int]]:
    """Return the sequences of a length that occur often enough, with where they begin."""
    starts: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(words) - length + 1):
        sequence = words[place : place + length]
        has_command = any(word.startswith("run") for word in sequence)
        if not has_command or len(set(sequence)) < SHORTEST:
            continue
        known = starts.setdefault(sequence, [])
        if not known or place >= known[-1] + length:
            known.append(place)
    return {sequence: found for sequence, found in starts.items() if len(found) >= SEQUENCES_LEAST}


def _is_part(sequence: tuple[str, ...], taken: list[tuple[str, ...]]) -> bool:
    """Say whether a sequence lies in a longer one that is walked round and round."""
    return any(
        (longer * 2)[place : place + len(sequence)] == sequence
        for longer in taken
        for place in range(len(longer))
    )


def find_time_anomaly(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 8: a call that took far longer than the others; it counts only beside another signal.

    Seen when a call took at least a minute and four times the median of at least five timed calls.
    """
    timed = [(deed, deed.seconds) for deed in scratchpad.deeds.values() if deed.seconds is not None]
    if len(timed) < TIMED_LEAST:
        return
    usual = median(seconds for _, seconds in timed)
    least = max(SECONDS_LEAST, SLOW_MEDIANS * usual)
    for deed, seconds in timed:
        if seconds >= least:
            yield made(
                SignalKind.TIME_ANOMALY,
                f"{deed.act.value} {_what(deed)}",
                (deed,),
                files=(deed.target,) if deed.act in _FILES else (),
                seconds=f"{seconds:.0f}",
                usual=f"{usual:.0f}",
            )


def _what(deed: Deed) -> str:
    """Return what a call was spent on: a program, or its target."""
    return tools.program(command=deed.target) if deed.act in _COMMANDS else deed.target


def _what_inside(deed: Deed) -> str:
    """Return what a call was spent on, empty for a file outside of the repository."""
    is_outside = deed.act not in _COMMANDS and file_paths.is_outside(path=deed.target)
    return "" if is_outside else _what(deed)


def find_step_overrun(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 15: the work took far more steps than planned, at most one sighting.

    Seen when somebody planned, and it took at least half as many again, and at least five more.
    """
    planned = scratchpad.setting.planned_steps
    actual = scratchpad.steps_taken
    if planned < 1 or actual < OVERRUN_LEAST * planned or actual - planned < MORE_LEAST:
        return
    module = detections.main_module(scratchpad=scratchpad)
    details = {"planned": str(planned), "actual": str(actual), "ratio": f"{actual / planned:.2f}"}
    yield Sighting(
        kind=SignalKind.STEP_OVERRUN,
        key=module,
        files=(),
        evidence=(SignalEvidence(sequence=scratchpad.through, step=scratchpad.current_step),),
        details={"module": module, **details},
    )


def find_context_spike(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 17: a step that cost far more context than the others, a sighting a file or program.

    Seen when it cost at least 4,000 tokens and three times the median of at least five steps; what
    it read or ran is what costs.
    """
    tokens = [cost for cost in scratchpad.steps.values() if cost]
    if len(tokens) < COSTED_LEAST:
        return
    least = max(TOKENS_LEAST, COSTLY_MEDIANS * median(tokens))
    costly = (one for one in scratchpad.deeds.values() if scratchpad.cost_of(deed=one) >= least)
    by_what = group((_what_inside(deed), (deed,)) for deed in costly)
    by_what.pop("", None)
    for what, deeds in by_what.items():
        files = (what,) if deeds[0].act in _FILES else ()
        yield made(
            SignalKind.CONTEXT_SPIKE,
            what,
            deeds,
            files=files,
            times=len(deeds),
            what=what,
            tokens=str(max(scratchpad.cost_of(deed=deed) for deed in deeds)),
            module=file_paths.module(path="".join(files)),
        )


# Defaults, not measured.
RETRY_CALLS: Final = 10  # at most, from an error to the next try
FILES_NAMED: Final = 3  # that were changed until it went through
TESTS_LEAST: Final = 2  # different commands
TESTS_NAMED: Final = 3

CHANGED: Final = "after a change of "
_REFUSED: Final = re.compile(r"user (?:doesn't want|rejected|denied)|interrupted by user", re.I)
_WORDS: Final = re.compile(r"\w+")


def find_error_retry(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 3: an error, and what the agent did until the same call went through, or gave up.

    Seen when a call failed and the same program was called again within the next ten calls, one
    sighting a fingerprint. What a person refused is no error of the code.
    """
    deeds = in_order(scratchpad=scratchpad)
    yield from (_retried(deeds, one) for one in group(_retries(deeds)).values())


def _retries(deeds: tuple[Deed, ...]) -> Iterator[tuple[str, tuple[tuple[int, int]]]]:
    """Yield by the fingerprint of an error the place of a call and that of the next try."""
    for place, deed in enumerate(deeds):
        if not deed.is_error or _REFUSED.search(texts.straighten_apostrophes(text=deed.message)):
            continue
        tried = _tried(deed)
        following = range(place + 1, min(place + 1 + RETRY_CALLS, len(deeds)))
        again = next((later for later in following if _tried(deeds[later]) == tried), None)
        if again is not None:
            yield deed.fingerprint, ((place, again),)


def changed(*, how: str) -> tuple[str, ...]:
    """Return the files whose change helped, by the words that say how it went through."""
    return tuple(how.removeprefix(CHANGED).split(", ")) if how.startswith(CHANGED) else ()


def _tried(deed: Deed) -> tuple[Act, str]:
    """Return what is tried: a program, or a kind of act on one target."""
    return deed.act, _what(deed)


def _retried(deeds: tuple[Deed, ...], tries: list[tuple[int, int]]) -> Sighting:
    first, (place, again) = deeds[tries[0][0]], tries[-1]
    edits = tuple(deed for start, end in tries for deed in _edits(deeds[start + 1 : end]))
    return made(
        SignalKind.ERROR_RETRY,
        first.fingerprint,
        (*(deeds[at] for at in chain.from_iterable(tries)), *edits),
        files=tuple(deed.target for deed in edits),
        times=len(tries),
        what=" ".join(filter(None, _tried(first))),
        message=first.message,
        how=_what_helped(deeds[place : again + 1]),
        fix=_other_call(deeds[place], deeds[again]),
    )


def _what_helped(deeds: tuple[Deed, ...]) -> str:
    """Return how a call went through that failed first and was tried again last; empty if not."""
    first, *between, last = deeds
    if last.is_error or not last.is_done:
        return ""
    changes = tuple(dict.fromkeys(deed.target for deed in _edits(tuple(between))))
    if changes:
        return f"{CHANGED}{', '.join(changes[:FILES_NAMED])}"
    return "when tried again" if last.target == first.target else f"as `{last.target}`"


def _other_call(failed: Deed, last: Deed) -> str:
    """Return the call that went through where it is another one than failed; empty for none."""
    went_through = last.is_done and not last.is_error
    return last.target if went_through and last.target != failed.target else ""


def _edits(deeds: tuple[Deed, ...]) -> tuple[Deed, ...]:
    return tuple(deed for deed in each_file(deeds=deeds) if deed.act is Act.EDIT)


def find_test_order(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 13: which tests were run in which order until they passed, at most one sighting.

    Seen when at least two different test commands were run and the last run passed.
    """
    runs = [deed for deed in scratchpad.deeds.values() if deed.act is Act.TEST and deed.is_done]
    targets = tuple(dict.fromkeys(run.target for run in runs))
    if len(targets) < TESTS_LEAST or runs[-1].is_error:
        return
    module, named = detections.main_module(scratchpad=scratchpad), targets[:TESTS_NAMED]
    yield made(
        SignalKind.TEST_ORDER,
        f"{module}: {' > '.join(named)}",
        runs,
        times=len(runs),
        module=module,
        order="\n".join(named),
        runs=str(len(runs)),
        failures=str(sum(run.is_error for run in runs)),
    )


def find_self_correction(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 9: the agent says that it was wrong, and what is right, the same words once.

    Seen when a sentence of its reasoning corrects an earlier belief; the file it had last says
    where.
    """
    touches = detections.touches(scratchpad=scratchpad)
    corrections = [one for one in scratchpad.remarks if one.kind is RemarkKind.SELF_CORRECTION]
    firsts = {" ".join(_WORDS.findall(one.text.lower())): one for one in reversed(corrections)}
    for words, remark in firsts.items():
        own = [deed for deed in touches if deed.agent == remark.agent]
        before = [deed for deed in own if deed.sequence < remark.sequence][-1:]
        told = SignalEvidence(sequence=remark.sequence, step=remark.step)
        yield Sighting(
            kind=SignalKind.SELF_CORRECTION,
            key=hashlib.blake2b(words.encode(), digest_size=8).hexdigest(),
            files=tuple(deed.target for deed in before),
            evidence=(*detections.evidence(deeds=before), told),
            details={"text": remark.text},
        )
