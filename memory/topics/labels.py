"""What a topic is called: the words that tell its memories from those of other topics.

c-TF-IDF (Grootendorst 2022), counted in memories: W = tf · ln(1 + A / f), with tf the memories of
the topic that have the word, f the memories of all topics that have it, A the mean number of words
a topic. A word that fewer than two memories of the topic have is none of its words: it would tell
what one of them says. Spellings of one word count together; it is shown as it is written most.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Final

MOST_WORDS: Final = 8  # a topic; one bit of a small number each
LEAST_HOLDERS: Final = 2  # memories that must have a word, for it to be told
LONGEST: Final = 40  # characters of a word
SHORTEST: Final = 3
_WORD: Final = re.compile(r"[^\W\d_][\w-]*[^\W_]|[^\W\d_]")
_PLURAL: Final = re.compile(r"(?<=\w\w[^\Wsuiao])s\Z")
_SMALL: Final = (  # English, then French
    "about above across after again against all almost also always among and another any anyone"
    " anything are around back because been before being below best better between both but call"
    " called calls came can cannot change changed changes come comes could day days did different"
    " does doing done down during each either else enough even ever every everyone everything few"
    " file files find first five for four from full gave get gets gives go goes going good got had"
    " half has have having her here him his how however instead into its itself just keep keeps"
    " kept know known last later least left less let like line lines long look made make makes"
    " many may means might more most much must need needs never new next nobody none nor not"
    " nothing now off often old once one only onto other others our out over own part people per"
    " place put rather read reads really right run running runs said same say says second see seen"
    " set sets several shall she should since small some someone something sometimes still such"
    " take taken takes tell tells than that the their them then there these they thing things this"
    " those three through thus time times together told too took two under until unless upon use"
    " used uses using very via want wants was way well went were what when where whether which"
    " while who whole whose why will with within without would write writes written wrong year"
    " yes yet you your"
    " afin ainsi alors après assez aucun aucune aussi autre autres aux avant avec avoir car cas"
    " ceci cela celle celles celui ces cet cette ceux chacun chaque chez comme comment contre dans"
    " depuis des dès deux devant doit doivent donc dont encore entre est était étaient étant été"
    " être eux fait faire fois font fut hors ici ils jamais jour jours laquelle lequel les leur"
    " leurs lors lorsque lui mais même mêmes mes met mieux moins mon même non nos notre nous"
    " nouveau nouvelle ont par parce parfois pas pendant personne peu peut peuvent plus plusieurs"
    " plutôt pour pourquoi pourtant près puis puisque quand quatre que quel quelle quelles quels"
    " qui quoi rien sans sauf ses seul seule seulement sinon soit son sont sous souvent sur tant"
    " tel telle tels ton toujours tous tout toute toutes très trois trop une vers voici voilà vos"
    " votre vous"
)
_SAYS_NOTHING: Final = frozenset(_SMALL.split())


def words_of(*, text: str) -> dict[str, str]:
    """Return the words of a text that may name something: each by its key, as it is written."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        written = match.group()
        plain = written.casefold()
        if SHORTEST <= len(plain) <= LONGEST and plain not in _SAYS_NOTHING:
            found.setdefault(intern(_PLURAL.sub("", plain)), intern(written))
    return found


def distinctive(*, topics: Sequence[Sequence[Mapping[str, str]]]) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each topic's words, the most distinctive first; none where it shares none.

    A topic is the words of its memories, by key.
    """
    held = [Counter(key for words in memories for key in words) for memories in topics]
    everywhere: Counter[str] = Counter()
    for counted in held:
        everywhere.update(counted)
    mean = sum(everywhere.values()) / max(len(held), 1)
    return tuple(_best(counted, everywhere, mean) for counted in held)


def holders(*, key: str, memories: Iterable[Mapping[str, str]]) -> int:
    """Count the memories that have a word."""
    return sum(key in words for words in memories)


def usual_spelling(*, key: str, memories: Iterable[Mapping[str, str]]) -> str:
    """Return a word as most memories write it."""
    written = Counter(words[key] for words in memories if key in words)
    return min(written, key=lambda one: (-written[one], one))


def _best(counted: Counter[str], everywhere: Counter[str], mean: float) -> tuple[str, ...]:
    weights = {
        key: count * math.log1p(mean / everywhere[key])
        for key, count in counted.items()
        if count >= LEAST_HOLDERS
    }
    return tuple(sorted(weights, key=lambda key: (-weights[key], key))[:MOST_WORDS])
