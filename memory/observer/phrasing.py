"""Signals put into better words by a model, checked one by one.

Signals are numbered and shown between two marks that nobody can have known. What comes back is
taken only where it is one to three sentences that say what the signal said: no file, number, name,
quoted or code-like word, program or alarm that the signal has not, its negations, and most of its
words. Everything else is left to the template: nothing is guessed from a broken answer.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from memory.extraction import chatter
from memory.extraction.extract import SHORTEST
from memory.intake import rules
from memory.observer.promotion import CONTENT_MOST, ObservedCandidate
from memory.records import assertions
from memory.secrets import scanner
from memory.text import text as texts

MOST: Final = 20  # signals a call: as many as a session can promote
LONGEST_SIGNAL: Final = 900  # characters of one in a call; default, not measured
LONGEST: Final = 500  # characters of what is taken; default, not measured
SENTENCES_MOST: Final = 3
GROUNDED: Final = 0.6  # share of the words that the signal has too, as of conversations
_END: Final = re.compile(r"[.!?](?=\s|$)")
_CODE_LIKE: Final = re.compile(r"[\d/\\_=$#@{}()<>\[\]|;&*]|\w\.\w|^-|[a-z][A-Z]|^[A-Z]{2}")
_QUOTED: Final = re.compile(r"[`“\"]([^`”\"]+)[`”\"]")
_PROGRAMS: Final = frozenset({  # a signal that does not name one does not call for it
    "apt", "bash", "bun", "cargo", "chmod", "chown", "curl", "dd", "deno", "docker", "eval", "exec",
    "git", "gradle", "helm", "kill", "kubectl", "make", "mvn", "node", "npm", "npx", "pip", "pnpm",
    "poetry", "powershell", "psql", "python", "rm", "ruby", "scp", "sh", "ssh", "sudo", "terraform",
    "uv", "wget", "yarn",
})  # fmt: skip


def written(*, candidates: tuple[ObservedCandidate, ...], nonce: str) -> str:
    """Return the signals between their marks, without secrets."""
    lines: list[str] = []
    for number, candidate in enumerate(candidates, 1):
        told = {
            "kind": candidate.key.partition(":")[0],
            "becomes": candidate.type.value,
            "files": candidate.files,
            "says": candidate.content,
        }
        lines.append(f"[signal {number}]\n{written_json(told, nonce)[:LONGEST_SIGNAL]}")
    return "\n".join((f"<<<{nonce}", *lines, f"{nonce}>>>"))


def written_json(told: Mapping[str, object], nonce: str) -> str:
    """Write what a model is shown, without secrets and without the mark that ends it."""
    text = json.dumps(told, ensure_ascii=False).replace(nonce, "")
    return scanner.without_secrets(text=text)


def read(
    *, data: Mapping[str, Any], candidates: tuple[ObservedCandidate, ...]
) -> tuple[dict[str, str], Counter[str]]:
    """Return the better words by the candidate's key, and how many were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[str, str] = {}
    twice: set[str] = set()
    for entry in data["phrases"]:
        if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
            dropped["phrase_shape"] += 1
            continue
        number = entry.get("signal")
        if type(number) is not int or not 1 <= number <= len(candidates):
            dropped["phrase_signal" if type(number) is int else "phrase_shape"] += 1
            continue
        candidate, text = candidates[number - 1], " ".join(entry["text"].split())
        wrong = fault(text=text, said=" ".join((candidate.content, *candidate.files)))
        if wrong:
            dropped[wrong] += 1
            continue
        twice |= {candidate.key} & found.keys()
        found[candidate.key] = text
    dropped["phrase_twice"] += len(twice)
    return {key: text for key, text in found.items() if key not in twice}, +dropped


def fault(*, text: str, said: str) -> str:
    """Return the first thing wrong with a phrase of what was said; empty when nothing is."""
    has_length = SHORTEST <= len(text) <= min(LONGEST, CONTENT_MOST)
    is_clean = not texts.check_text(text=text) and texts.visible_text(text=text) == text
    sentences = len(_END.findall(text)) or 1
    is_quiet = set(rules.of_content(content=text)) <= set(rules.of_content(content=said))
    checks = (
        ("phrase_length", has_length and is_clean and sentences <= SENTENCES_MOST),
        ("phrase_instruction", is_quiet and not chatter.speaks_to_the_machine(text=text)),
        ("phrase_invented", not _invented(text, said)),
        ("phrase_turned", assertions.is_negated(text=text) == assertions.is_negated(text=said)),
        ("phrase_ungrounded", _is_grounded(text, said)),
    )
    return next((fault for fault, holds in checks if not holds), "")


def _invented(text: str, said: str) -> bool:
    """Say whether a phrase names what the signal does not."""
    there = " ".join(said.split()).lower()
    words = assertions.words(text=said)
    own = tuple(word.strip(".,:;!?()`'\"“”") for word in text.split())
    named = {word.lower() for word in own if word and _CODE_LIKE.search(word)}
    quoted = {" ".join(part.split()).lower() for part in _QUOTED.findall(text)}
    return (
        any(part not in there for part in named | quoted)
        or bool(assertions.names(text=text) - words)
        or bool(assertions.words(text=text) & _PROGRAMS - words)
    )


def _is_grounded(text: str, said: str) -> bool:
    words = texts.content_words(text=text)
    there = texts.content_words(text=said)
    return bool(words) and len(words & there) >= GROUNDED * len(words)
