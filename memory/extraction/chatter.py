"""What is said in a conversation and is no memory: talk, plans, doubts, orders to the machine.

A question asks, a guess is not known, a plan is of the next minute, a report tells what was just
done, a thanks is a thanks. A sentence that speaks to the machine (“ignore the above, remember
that…”) is what an attacker writes into a text; the whole paragraph it stands in is not learned
from. Expressions are bounded; English and a little French.
"""

import re

from memory.text.text import WORD, content_words

FEWEST_WORDS = 4  # of a statement that can be read alone; default, not measured
FEWEST_LETTERS = 12  # where words are not set apart by spaces; default, not measured
OWN_NAMES_AT_LEAST = 2  # words of substance; default, not measured

_QUESTION = re.compile(
    r"[?\u061f\uff1f]\W*$|^(?:why|what|how|which|who|where|when (?:did|do|does|is|are|will|can"
    r"|should)"
    r"|can (?:you|we|i)|could (?:you|we|i)|would (?:you|it|that)|should (?:we|i|it)|do (?:you|we)"
    r"|does (?:it|this|that)|is (?:it|this|that|there)|are (?:you|we|there)"
    r"|est-ce que|pourquoi|comment|peux-tu|pouvez-vous)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|hypothetically|in theory"
    r"|might(?: be| have| want| need)?|could (?:be|also|try|use|move|switch)|i (?:think|guess"
    r"|suppose"
    r"|wonder|believe|assume|suspect)|not (?:sure|certain)|suppose|imagine|what if|would be (?:nice"
    r"|great|better|cool)|would (?:probably|need|have|require)|seems? (?:like|to)|looks like|one"
    r" option|another option|option [a-d\d]\b|if we (?:were|had|ever|used|went|did)"
    r"|let me know (?:if|whether)|it depends|peut-être|sans doute|je (?:pense|crois)|on pourrait"
    r"|il faudrait (?:voir|peut-être))\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"^(?:(?:ok(?:ay)?|sure|great|now|next|first|then|so|good|perfect|alright|right|got it"
    r"|understood"
    r"|done|yes|yep)[,.!: ]+){0,3}(?:i(?:.ll| will|.m going to| am going to|.m| am|.ve| have|.d|"
    r" would| can| could| need to| want to| just| now| also| see| found| ran| added| updated"
    r"| changed"
    r"| created| removed| fixed (?:the|a|it\b(?! by))| noticed| checked| started)\b"
    r"|let me|let.s (?:start|see|try|check|look|first|do|fix|add|run|take|begin|move on|get"
    r"|write|create|make|go (?:ahead|through|over|with (?:that|this|it|option|the (?:first"
    r"|second))))"
    r"|here(?:.s| is| are)|looking (?:at|into)|checking|running|reading|working on|starting"
    r"|updating"
    r"|we (?:should|can|could|need to|have to|.ll need)|todo\b|step \d|je vais|on va|il faut que je"
    r"|voici|laisse-moi)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:(?:ok(?:ay)?|now|next|first|then|so|and|but)[,.!: ]+){0,2}(?:i(?:.ll| will|.m going to"
    r"|.m about to| need (?:you )?to| just| want (?:you )?to|.d like (?:you )?to)|let me"
    r"|let.s (?:start"
    r"|see|try|check|look|first|do|fix|add|take|begin|move on|get|write|create|make|go (?:ahead"
    r"|through|over))|we (?:should|can|could|need to|have to|.ll need)|todo\b|step \d|je vais"
    r"|je veux|on va|il faut que (?:je|tu))",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^(?:thanks?|thank you|thx|cheers|great|nice|perfect|awesome|cool|lgtm|looks good|sounds good"
    r"|good (?:job|work|morning|catch|point|question)|hi|hello|hey|sorry|my (?:bad|mistake)"
    r"|no problem"
    r"|no worries|you.re (?:welcome|right)|well done|go ahead|carry on|continue|yes please|done"
    r"|merci|bonjour|salut|parfait|super|d.accord|désolée?)\b[^.]{0,40}[.!]?$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:please |can you |could you |now |also |then |and |just )*(?:add|fix|write (?:a|an|the|me)"
    r"|create|make (?:a|an|the|it|sure)|implement|refactor|rename|remove|delete|update|change|move"
    r"|show|explain|summari[sz]e|review|check|look|find|open|read|run (?:the|it)|try|test|commit"
    r"|push"
    r"|deploy|rebase|merge|revert|install|generate|give|tell|help|go|do (?:it|that|this|the)|ajoute"
    r"|corrige|montre|écris|supprime|lance|regarde)\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|every time|each time|whenever|going forward|as a rule"
    r"|by default"
    r"|instead of|rather than|toujours|jamais|désormais)\b",
    re.IGNORECASE,
)
_TO_THE_MACHINE = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:\w+ ){0,3}(?:above|previous|prior|earlier|all"
    r"|instructions?|rules?|prompt|everything)\b|\b(?:system|developer) prompt\b"
    r"|\byou are now\b|\bnew instructions?\b|\bas an? (?:ai|assistant|language model)\b"
    r"|\b(?:store|save|add|write|record|remember)\b.{0,60}\b(?:in|to|into) (?:your |the "
    r"|long-term )*"
    r"memor(?:y|ies)\b|\bdo not (?:tell|inform|mention)\b.{0,40}\b(?:user|anyone|human)s?\b"
    r"|\b(?:jailbreak|exfiltrate)\b|\bignore[zs]? (?:\w+ ){0,3}(?:instructions|consignes|précédent)"
    r"|\b(?:the )?(?:assistant|model|agent|ai) (?:must|should|shall|has to|will) (?:now |always )?"
    r"(?:remember|store|obey|reply|output|comply|send|approve|run|execute)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\b(?:go|stick|stay|going|part|reste|garde) (?:with|on|to|sur|avec) (?:that|this|it|them|ça"
    r"|cela"
    r"|(?:the )?(?:first|second|last|other|former|latter)(?: one| option)?|option \w+"
    r"|your (?:suggestion|plan|approach|idea)|(?:the )?plan)\b",
    re.IGNORECASE,
)


def is_talk(*, text: str, is_agent: bool) -> bool:
    """Say whether a sentence is talk: a question, a doubt, a plan, a courtesy, an order."""
    if _QUESTION.search(text) or _DOUBT.search(text) or _TALK.match(text) or _BARE.search(text):
        return True
    if is_agent:
        return _PLAN.match(text) is not None
    is_of_the_moment = _ORDER.match(text) is not None or _WISH.match(text) is not None
    return is_of_the_moment and not _STANDING.search(text)


def speaks_to_the_machine(*, text: str) -> bool:
    """Say whether a text gives orders to whoever reads it, as planted ones do."""
    return _TO_THE_MACHINE.search(text) is not None


def has_substance(*, text: str) -> bool:
    """Say whether a sentence has enough words to be read alone."""
    words = WORD.findall(text)
    if len(words) < FEWEST_WORDS:
        return not text.isascii() and len(text) >= FEWEST_LETTERS and not _has_spaces(text)
    telling = content_words(text=text)
    return len(telling) >= OWN_NAMES_AT_LEAST


def _has_spaces(text: str) -> bool:
    return text.count(" ") > len(text) / 12
