"""Words of a conversation: what is mere talk, and what tells that a sentence is worth keeping.

A question asks, a guess is not known, a plan is of the next minute, a report tells what was just
done, a thanks is a thanks. A sentence that speaks to the machine (“ignore the above, remember
that…”) is what an attacker writes into a text; the whole paragraph it stands in is not learned
from. The expressions stand in `tables/talk.toml`: those by name, and a table of cues that say what
a sentence is and who must have said it.
"""

import re
from pathlib import Path
from typing import Final

from memory.sessions.turns import Speaker
from memory.taxonomy import MemoryType
from memory.text.text import WORD, compile_patterns, content_words, read_tables

FEWEST_WORDS = 4  # of a statement that can be read alone; default, not measured
FEWEST_LETTERS = 12  # where words are not set apart by spaces; default, not measured
OWN_NAMES_AT_LEAST = 2  # words of substance; default, not measured

_TABLES: Final = read_tables(file=Path(__file__).with_name("tables") / "talk.toml")


PATTERNS: Final = compile_patterns(table=_TABLES["expressions"], flags=re.IGNORECASE)
_CUES: Final = tuple(
    (
        MemoryType(row["type"]),
        frozenset(map(Speaker, row["speakers"].split())),
        re.compile(row["expression"].replace("\n", ""), re.IGNORECASE),
        bool(row.get("is_guess")),
    )
    for row in _TABLES["cues"]
)
_TALK: Final = ("question", "doubt", "talk", "bare", "pasted")


def is_talk(*, text: str, is_agent: bool) -> bool:
    """Say whether a sentence is talk: a question, a doubt, a plan, a courtesy, an order."""
    if any(PATTERNS[name].search(text) for name in _TALK):
        return True
    if is_agent:
        return PATTERNS["plan"].match(text) is not None
    is_of_the_moment = PATTERNS["order"].match(text) or PATTERNS["wish"].match(text)
    return is_of_the_moment is not None and not PATTERNS["standing"].search(text)


def speaks_to_the_machine(*, text: str) -> bool:
    """Say whether a text gives orders to whoever reads it, as planted ones do."""
    return PATTERNS["to_the_machine"].search(text) is not None


def has_substance(*, text: str) -> bool:
    """Say whether a sentence has enough words to be read alone."""
    words = WORD.findall(text)
    if len(words) < FEWEST_WORDS:
        has_spaces = text.count(" ") > len(text) / 12
        return not text.isascii() and len(text) >= FEWEST_LETTERS and not has_spaces
    telling = content_words(text=text)
    return len(telling) >= OWN_NAMES_AT_LEAST


def cue_in(*, speaker: Speaker, texts: tuple[str, ...]) -> tuple[MemoryType, bool] | None:
    """Return what the first cue in the ways to write a sentence makes it; None without one.

    Beside the type stands whether that is a guess: the cue marks wishes of the moment as well.
    """
    found = (
        (type, is_guess)
        for type, speakers, pattern, is_guess in _CUES
        if speaker in speakers and any(map(pattern.search, texts))
    )
    return next(found, None)
