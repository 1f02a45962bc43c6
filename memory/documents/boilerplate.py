"""What every repository says and no one needs to remember: badges, contents, licenses, thanks."""

import re

MINIMUM_WORDS = 3  # of two letters and more, with what leads to them; ours
MINIMUM_OWN_WORDS = 2  # ours

_SECTIONS = re.compile(
    r"(?:(?:the )?(?:mit|apache|bsd|gpl) )?licen[cs](?:e|ing)s?(?: .{0,30})?|copyright|contributors"
    r"|(?:our |all )?(?:contributors|sponsors|backers|supporters|authors?)|maintainers"
    r"|acknowledge?ments?|credits|thanks(?: to)?|(?:table of )?contents|toc|star history"
    r"|stargazers|change ?log|release (?:notes|history)|what'?s new|funding|donat(?:e|ions?)"
    r"|code of conduct|badges|(?:show )?your support|testimonials"
    r"|who uses .{0,40}|used by|translations|community|citations?|citing.{0,30}|in this document",
    re.IGNORECASE,
)
_LINES = re.compile(
    r"(?:(?:\(c\)|copyright|©)|made with|built with (?:love|❤)|back to top"
    r"|this file provides guidance to|\|[\w-]+\||\.\. [\w_|]|⬆|t\.?b\.?d\b|coming soon"
    r"|n/?a$|none\.?$|this project is licensed|licensed under|distributed under|all rights reserved"
    r"|released under|see (?:the )?\W?license|if you (?:like|find) this|give (?:it|us) a star"
    r"|table of contents|this file is (?:auto|generated)|do not edit)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\w+://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_section(*, heading: str) -> bool:
    """Say whether everything under a heading is boilerplate."""
    return _SECTIONS.fullmatch(heading.strip(" :")) is not None


def is_text(*, text: str, context: str) -> bool:
    """Say whether a text is boilerplate, or with its context too little to mean anything."""
    if _LINES.match(text.strip(" *_-—\n")):
        return True
    own = _weight(text)
    return own < MINIMUM_OWN_WORDS or own + _weight(context) < MINIMUM_WORDS


def _weight(text: str) -> int:
    """Count words, code spans and addresses; a fenced block alone is enough for a statement."""
    fences = MINIMUM_OWN_WORDS * len(_FENCE.findall(text))
    spans = len(_SPAN.findall(_FENCE.sub(" ", text)))
    addresses = len(_ADDRESS.findall(text))
    prose = _ADDRESS.sub(" ", _SPAN.sub(" ", _FENCE.sub(" ", text)))
    return fences + spans + addresses + len(_WORD.findall(prose))
