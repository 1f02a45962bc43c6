"""The words of a text that say something: all but articles, pronouns and the like."""

import re

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_LITTLE = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "her", "his", "i", "if", "in", "into", "is", "it",
    "its", "me", "my", "no", "not", "of", "on", "or", "our", "out", "she", "so", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up",
    "us", "was", "we", "were", "what", "when", "which", "who", "will", "with", "you", "your",
    "thing", "things", "stuff", "ones", "way", "just", "also", "very", "really", "here",
    "now",
})  # fmt: skip


def content_words(*, text: str) -> frozenset[str]:
    """Return the words that say something, in lower case."""
    return frozenset(word.lower() for word in WORD.findall(text)) - _LITTLE
