"""What the readings of one text have in common, so that each part of it is looked at once (7.6).

A text is read in several ways (`secret_forms`), which differ in a few of their lines. What can be
told of a line alone, which hints stand in it and which long words, is asked of lines that no
reading before had, and what can be told of a word alone once for each word. So what is known here
is of all readings together: of one alone it may say more than is there, never less; then a rule is
tried that finds nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

LONG_LEAST: Final = 14  # characters of a word that is looked at by itself
_ODD: Final = re.compile("[\u0130\u0131\u017f\u212a]")  # match i, s or k where case is ignored


class Readings:
    """The hints and the long words of all lines that were read so far."""

    def __init__(self, *, hints: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Begin with nothing read; by hints in small letters, the longer ones that hold them."""
        self.hints: set[str] = set()  # that are there
        self.is_odd = False  # whether a letter is there that matches an ASCII one as well
        self.matching: set[object] = set()  # rules for one word that match one
        self.hiding: set[str] = set()  # words that hide something
        self._asked = hints or {}
        self._untried: set[str] = set()
        self._undecoded: set[str] = set()
        self._words: set[str] = set()
        self._lines: set[str] = set()
        self._texts: set[str] = set()

    def read(self, *, text: str) -> None:
        """Look at the lines of a text that none before had."""
        if text in self._texts:
            return
        self._texts.add(text)
        lines = set(text.split("\n"))
        new = "\n".join(lines - self._lines) if self._lines else text
        self._lines |= lines
        self._hint(new)
        words = {word for word in new.split() if len(word) >= LONG_LEAST} - self._words
        self._words |= words
        self._untried |= words
        self._undecoded |= words

    def take_untried(self) -> set[str]:
        """Return the long words that were not returned before, for rules for one word."""
        words, self._untried = self._untried, set()
        return words

    def take_undecoded(self) -> set[str]:
        """Return the long words that were not returned before, for what may hide in them."""
        words, self._undecoded = self._undecoded, set()
        return words

    def _hint(self, new: str) -> None:
        lowered = new.lower()
        self.is_odd = self.is_odd or is_odd(text=new)
        for hint, longer in self._asked.items():
            if hint in self.hints or hint in lowered:
                self.hints.add(hint)
                self.hints.update(one for one in longer if one in lowered)


def is_odd(*, text: str) -> bool:
    """Say whether a letter beyond ASCII matches an ASCII one where case is ignored."""
    return not text.isascii() and _ODD.search(text) is not None
