"""Turns as a model reads them: numbered, bounded, between two marks.

What others wrote is data. It stands between two lines with a mark that nobody can have known before
(`nonce`); what looks like the mark inside is taken out. Only people and their agents are shown, and
of them only their own words: what a tool answered, what was quoted or pasted is not learned from,
so it need not be read, and an instruction planted there reaches no model.

The mode `hybrid` leaves out turns that are mere talk, and no others. A gate of words that looked
for signs of value (an error, a decision, code, …) missed 8 of 23 turns worth keeping in foreign
conversations; this one missed none of them, and 6 of 35 of a second set (`bench_foreign`).
"""

from typing import Final

from memory.extraction import chatter
from memory.secrets import scanner
from memory.sessions import turns as spoken
from memory.sessions.turns import Speaker, Turn

MOST_TURNS: Final = 30  # a call
LONGEST_TURN: Final = 6_000  # characters of a turn in a call; default, not measured
LONGEST: Final = 40_000  # characters of all turns in a call; default, not measured
CUT: Final = " […] "
LEAST_WORDS: Final = 6  # of a sentence that is worth a call; default, not measured


def worth_asking(*, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns that are more than talk, each with the one before it."""
    marked = {place for place, turn in enumerate(turns) if is_worth_asking(turn=turn)}
    wanted = marked | {place - 1 for place in marked if place}
    return tuple(turn for place, turn in enumerate(turns) if place in wanted)


def is_worth_asking(*, turn: Turn) -> bool:
    """Say whether a speaker states something in a turn that gives the machine no orders."""
    sentences = spoken.own_words(turn=turn)
    if any(chatter.speaks_to_the_machine(text=one.text) for one in sentences):
        return False
    is_agent = turn.speaker is Speaker.ASSISTANT
    return any(
        len(one.text.split()) >= LEAST_WORDS
        and chatter.has_substance(text=one.text)
        and not chatter.is_talk(text=one.text, is_agent=is_agent)
        for one in sentences
    )


def batches(*, turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], ...]:
    """Cut a conversation into parts of at most 30 turns and so many characters, in order."""
    found: list[list[Turn]] = []
    length = 0
    for turn in turns:
        size = min(len(turn.text), LONGEST_TURN)
        if not found or len(found[-1]) >= MOST_TURNS or length + size > LONGEST:
            found.append([])
            length = 0
        found[-1].append(turn)
        length += size
    return tuple(tuple(batch) for batch in found)


def written(*, turns: tuple[Turn, ...], nonce: str) -> str:
    """Return the turns between their marks; empty when nobody says anything in them.

    Secrets are taken out of what somebody says: as it is read here, it may hold one that the turn
    hid between marks of emphasis.
    """
    told = tuple(line for turn in turns if (line := _line(turn, nonce)))
    if not told:
        return ""
    return "\n".join((f"<<<{nonce}", *told, f"{nonce}>>>"))


def _line(turn: Turn, nonce: str) -> str:
    if turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return ""
    said = scanner.without_secrets(text=spoken.prose(turn=turn).replace(nonce, ""))
    if len(said) > LONGEST_TURN:
        half = (LONGEST_TURN - len(CUT)) // 2
        said = f"{said[:half]}{CUT}{said[-half:]}"
    return f"[turn {turn.sequence}] {turn.speaker.value}: {said}" if said.strip() else ""
