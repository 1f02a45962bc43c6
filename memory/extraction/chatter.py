"""Words of a conversation: what is mere talk, and what tells that a sentence is worth keeping.

A question asks, a guess is not known, a plan is of the next minute, a report tells what was just
done, a thanks is a thanks. A sentence that speaks to the machine (“ignore the above, remember
that…”) is what an attacker writes into a text; the whole paragraph it stands in is not learned
from. `_ROWS` is one table of the rest: what a sentence then is, who must have said it, and the
expression. English and a little French; all are bounded, so a scan stays linear in the text.
"""

import re
from typing import Final

from memory.sessions.turns import Speaker
from memory.taxonomy import MemoryType
from memory.text.text import WORD, content_words

FEWEST_WORDS = 4  # of a statement that can be read alone; default, not measured
FEWEST_LETTERS = 12  # where words are not set apart by spaces; default, not measured
OWN_NAMES_AT_LEAST = 2  # words of substance; default, not measured

_QUESTION = re.compile(
    r"[?\u061f\uff1f]\W*$|^(?:why|what|how|which|who|where|when (?:did|do|does|is|are|will|can"
    r"|should)|can (?:you|we|i)|could (?:you|we|i)|would (?:you|it|that)|should (?:we|i|it)"
    r"|do (?:you|we)|does (?:it|this|that)|is (?:it|this|that|there)|are (?:you|we|there)"
    r"|est-ce que|pourquoi|comment|peux-tu|pouvez-vous)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|hypothetically|in theory"
    r"|might(?: be| have| want| need)?|could (?:be|also|try|use|move|switch)|i (?:think|guess"
    r"|suppose|wonder|believe|assume|suspect)|not (?:sure|certain)|suppose|imagine|what if"
    r"|would be (?:nice|great|better|cool)|would (?:probably|need|have|require)|seems? (?:like|to)"
    r"|looks like|one option|another option|option [a-d\d]\b|if we (?:were|had|ever|used|went|did)"
    r"|let me know (?:if|whether)|it depends|peut-être|sans doute|je (?:pense|crois)|on pourrait"
    r"|il faudrait (?:voir|peut-être))\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"^(?:(?:ok(?:ay)?|sure|great|now|next|first|then|so|good|perfect|alright|right|got it"
    r"|understood|done|yes|yep)[,.!: ]+){0,3}(?:i(?:.ll| will|.m going to| am going to|.m| am|.ve"
    r"| have|.d| would| can| could| need to| want to| just| now| also| see| found| ran| added"
    r"| updated| changed| created| removed| fixed (?:the|a|it\b(?! by))| noticed| checked"
    r"| started)\b|let me|let.s (?:start|see|try|check|look|first|do|fix|add|run|take|begin|move on"
    r"|get|write|create|make|go (?:ahead|through|over|with (?:that|this|it|option|the (?:first"
    r"|second))))|here(?:.s| is| are)|looking (?:at|into)|checking|running|reading|working on"
    r"|starting|updating|we (?:should|can|could|need to|have to|.ll need)|todo\b|step \d|je vais"
    r"|on va|il faut que je|voici|laisse-moi)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:(?:ok(?:ay)?|now|next|first|then|so|and|but)[,.!: ]+){0,2}(?:i(?:.ll| will|.m going to"
    r"|.m about to| need (?:you )?to| just| want (?:you )?to|.d like (?:you )?to)|let me"
    r"|let.s (?:start|see|try|check|look|first|do|fix|add|take|begin|move on|get|write|create|make"
    r"|go (?:ahead|through|over))|we (?:should|can|could|need to|have to|.ll need)|todo\b|step \d"
    r"|je vais|je veux|on va|il faut que (?:je|tu))",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^(?:thanks?|thank you|thx|cheers|great|nice|perfect|awesome|cool|lgtm|looks good|sounds good"
    r"|good (?:job|work|morning|catch|point|question)|hi|hello|hey|sorry|my (?:bad|mistake)"
    r"|no problem|no worries|you.re (?:welcome|right)|well done|go ahead|carry on|continue"
    r"|yes please|done|merci|bonjour|salut|parfait|super|d.accord|désolée?)\b[^.]{0,40}[.!]?$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:please |can you |could you |now |also |then |and |just )*(?:add|fix|write (?:a|an|the|me)"
    r"|create|make (?:a|an|the|it|sure)|implement|refactor|rename|remove|delete|update|change|move"
    r"|show|explain|summari[sz]e|review|check|look|find|open|read|run (?:the|it)|try|test|commit"
    r"|push|deploy|rebase|merge|revert|install|generate|give|tell|help|go|do (?:it|that|this|the)"
    r"|ajoute|corrige|montre|écris|supprime|lance|regarde)\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|every time|each time|whenever|going forward|as a rule"
    r"|by default|instead of|rather than|toujours|jamais|désormais)\b",
    re.IGNORECASE,
)
_TO_THE_MACHINE = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:\w+ ){0,3}(?:above|previous|prior|earlier|all"
    r"|instructions?|rules?|prompt|everything)\b|\b(?:system|developer) prompt\b|\byou are now\b"
    r"|\bnew instructions?\b|\bas an? (?:ai|assistant|language model)\b|\b(?:store|save|add|write"
    r"|record|remember)\b.{0,60}\b(?:in|to|into) (?:your |the |long-term )*memor(?:y|ies)\b"
    r"|\bdo not (?:tell|inform|mention)\b.{0,40}\b(?:user|anyone|human)s?\b|\b(?:jailbreak"
    r"|exfiltrate)\b|\bignore[zs]? (?:\w+ ){0,3}(?:instructions|consignes|précédent)"
    r"|\b(?:the )?(?:assistant|model|agent|ai) (?:must|should|shall|has to|will) (?:now "
    r"|always )?(?:remember|store|obey|reply|output|comply|send|approve|run|execute)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\b(?:go|stick|stay|going|part|reste|garde) (?:with|on|to|sur|avec) (?:that|this|it|them|ça"
    r"|cela|(?:the )?(?:first|second|last|other|former|latter)(?: one| option)?|option \w+"
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
        has_spaces = text.count(" ") > len(text) / 12
        return not text.isascii() and len(text) >= FEWEST_LETTERS and not has_spaces
    telling = content_words(text=text)
    return len(telling) >= OWN_NAMES_AT_LEAST


BOTH = frozenset({Speaker.USER, Speaker.ASSISTANT})
USER = frozenset({Speaker.USER})
AGENT = frozenset({Speaker.ASSISTANT})

# fmt: off
_ROWS: Final = (
    (MemoryType.DEAD_END, BOTH,
     r"\b(?:we|i|they) (?:already )?tried\b.{3,160}\b(?:but|and it|didn.t|did not|failed"
     r"|broke)\b|\b(?:gave up on|dead end|turned out (?:not to work|to be a dead end"
     r"|unusable))\b|\b(?:on a|nous avons) (?:déjà )?essayé\b.{3,160}\b(?:mais|sans succès)\b"),
    (MemoryType.CAUSAL_DEPENDENCY, BOTH,
     r"\b(?:when(?:ever)?|if|every time) (?:you|we|someone|anyone) (?:add|chang|edit|modif"
     r"|renam|updat|touch|remov|bump)\w* .{3,120}\b(?:must|also|needs? to|has to|have to"
     r"|remember to)\b|\bmust (?:always )?be (?:changed|updated|edited|kept) (?:together"
     r"|in sync)\b|\b(?:si|quand|chaque fois qu)\S* (?:on|vous|tu|nous) (?:chang|modifi|ajout"
     r"|renomm)\w* .{3,120}\b(?:faut|devez|doit|aussi)\b"),
    (MemoryType.DECISION, BOTH,
     r"\bwe(?:.ve| have)? (?:just |also |finally )?(?:decided|agreed|chose|settled on|opted"
     r"|standardi[sz]ed on|picked)\b|\b(?:the )?(?:decision|team decision)(?: is| was|:)"
     r"|\bit (?:was|has been) (?:decided|agreed)\b|\bthe team (?:decided|agreed|chose|settled)\b"
     r"|\bwe(?:.re| are) (?:moving|switching|migrating|standardi[sz]ing)\b.{0,60}\b(?:to|from|on"
     r"|off|away)\b|\bwe (?:moved|switched|migrated)\b.{0,60}\b(?:to|from|off|away)\b|\b(?:on a"
     r"|nous avons|l.équipe a) (?:finalement )?(?:décidé|choisi|convenu|retenu)\b"),
    (MemoryType.DECISION, USER,
     r"\b(?:let.s|we(?:.ll| will|.re going to| are going to)) (?:go with|stick (?:with|to)"
     r"|stay (?:with|on)|standardi[sz]e on|keep using|drop support)\b|\bon (?:part|garde"
     r"|reste) (?:sur|avec)\b"),
    (MemoryType.FIX, BOTH,
     r"\b(?:fixed|solved|resolved|cured|worked around)(?: (?:it|this|that|the \w+(?: \w+)?))? by\b"
     r"|\bthe (?:real |actual |proper )?(?:fix|solution|workaround|cure) (?:is|was) (?:to|that|by"
     r"|in|a|an|the|simply|just|adding|using|setting|making|\w+ing)\b|\b(?:corrigé|résolu"
     r"|réglé)e?s? (?:en|par)\b|\bla solution (?:est|était|c.est)\b"),
    (MemoryType.ERROR_PATTERN, BOTH,
     r"\b(?:root cause|culprit)\b.{0,60}\b(?:is|was|:)|\bthe (?:real |actual "
     r"|underlying )?(?:problem|issue|bug|cause|failure|crash|error|deadlock|leak|timeout"
     r"|flak(?:e|iness)) (?:is|was|came|comes|happens|happened)\b.{0,20}\b(?:that|because"
     r"|when|from|caused|due|in|a|an|the)\b|\b(?:is|was|were|are) (?:caused by|due to)\b"
     r"|\b(?:turns|turned) out (?:that )?\b|\b(?:fail|crash|hang|break|time|deadlock"
     r"|leak)(?:s|es|ed)? (?:out )?(?:with|when(?:ever)?|if|because|unless)\b.{5,}"
     r"|(?-i:\b[A-Z]\w*(?:Error|Exception)\b|\b[A-Z]{2,}[-_]?\d{2,}\b).{0,80}\b(?:means"
     r"|comes from|happens|because|when|unless)\b|\b(?:le (?:problème|bug|plantage)"
     r"|l.erreur) (?:vient|venait|était|est (?:dû|causé))\b"),
    (MemoryType.ERROR_PATTERN, AGENT,
     r", (?:so|which means)(?: that)? (?!(?:i|we|let|you|it.s fine"
     r"|that.s fine)\b)[\w`-]+ .{5,}"),
    (MemoryType.GOTCHA, AGENT,
     r"\b(?:is|are|closes?|uses?|runs?|expires?|keeps?|limits?)\b.{0,80}\bby default\b"),
    (MemoryType.GOTCHA, BOTH,
     r"\b(?:gotcha|beware|watch out|caveat|pitfall|be careful|careful:|careful with)\b"
     r"|\b(?:keep in mind|be aware|note|bear in mind) that\b|\bonly works? (?:if|when|with|on"
     r"|after)\b|\bsilently\b.{3,}|\b(?:does|do|will|did)(?:n.t| not) (?:work|run|start|build"
     r"|compile|support) (?:with|on|when|if|unless|because|without|under|behind)\b|\b(?:never"
     r"|don.t|do not|must not|avoid) \w+.{3,120}\b(?:because|otherwise|or else|since it"
     r"|it (?:will|would|breaks?))\b|\b(?:attention|piège|méfie(?:z-vous|-toi))\b.{5,}"
     r"|\bne marche (?:pas|que) (?:si|quand|avec|sans|sous)\b"),
    (MemoryType.REQUIREMENT, USER,
     r"\b(?:must|shall)(?: always| never| not)? (?!have (?:been|forgotten|missed))\w+|\b(?:is"
     r"|are) (?:required|mandatory|not allowed|forbidden|prohibited)\b|\b(?:may not"
     r"|is not permitted to)\b|\b(?!(?:i|you|we|i.ll|you.ll|we.ll)\b)[\w`/.-]+ (?:has|have"
     r"|needs?) to (?:be|support|work|stay|remain|run|keep|pass|return|accept|fit|finish"
     r"|start|handle)\b|\b(?:doit|doivent) (?:toujours |jamais |rester |être |pouvoir "
     r"|passer |tourner )|\b(?:est|sont) (?:obligatoires?|interdite?s?|exigée?s?)\b"),
    (MemoryType.REQUIREMENT, AGENT,
     r"\bthe (?:spec|contract|requirement|client|customer|law|policy) (?:says|requires"
     r"|demands|is that)\b"),
    (MemoryType.PREFERENCE, USER,
     r"\bi(?:.d| would)? (?:really |strongly |much )?(?:prefer|dislike|hate|favou?r"
     r"|can.t stand)\b|\b(?:from now on|going forward|as a rule|by default"
     r"|in general),? .{6,}|^(?:please )?(?:always|never) \w+|\bwe (?:always|never|usually"
     r"|prefer)\b|^(?:please )?(?:stop|quit) (?:using|adding|writing|putting|wrapping)\b"
     r"|\bi (?:always|never) (?:want|use|write)\b|\bi like (?:my|our|the|to|short|small"
     r"|when)\b|\b(?:keep|write|make) (?:all |your |the |every )?(?:answers|replies|responses"
     r"|commits?(?: messages)?|functions|pull requests|prs|comments|summaries)\b.{4,}|\b(?:je"
     r"|on|nous) préf(?:ère|érons)\b|\b(?:désormais|dorénavant|à partir de maintenant)\b"
     r"|^(?:toujours|jamais) \w+|\bj.aime (?:pas|mieux)\b"),
    (MemoryType.PREFERENCE, USER,
     r"^(?:please )?(?:use|prefer|write|name|run|call) [^.?!]{2,80}\b(?:not|instead of|rather than"
     r"|never)\b [^.?!]{2,}|\bwe (?:use|do|write|run) [^.?!]{2,60}(?:,| and) (?:not|never)\b"
     r"|\b(?:utilis|écri)\w+ [^.?!]{2,80}\b(?:plutôt que|au lieu d|et pas|pas de)\b"),
    (MemoryType.PREFERENCE, USER,
     r"\bin this (?:project|repo(?:sitory)?|codebase|team|company)\b,? .{10,}|,(?: and"
     r"| but)?(?: please)? never \w+|^ask (?-i:[A-Z])\w+ (?:before|when|if)\b"
     r"|\bfor (?:anything|everything|all) .{2,60}(?:it.s|ask|talk to) (?-i:[A-Z])\w+"),
    (MemoryType.REQUIREMENT, USER,
     r"\b(?:is|are) (?:kept|retained|deleted|removed|rotated) (?:for|after|until|every"
     r"|within)\b"),
    (MemoryType.IDENTITY, USER,
     r"\b(?:my name is|i am called|call me (?-i:[A-Z]))|\bi(?:.m| am) (?:the|a|an|on the"
     r"|in the|on call for) [\w -]{0,40}\b(?:lead|engineer|developer|dev|manager|designer"
     r"|maintainer|owner|founder|architect|analyst|sre|team|intern|admin\w*|researcher"
     r"|scientist|contractor)\b|\bi work (?:on|at|as|in|for|from)\b|\bje (?:m.appelle"
     r"|travaille (?:sur|chez|comme|dans))\b|\bje suis (?:le|la|l.|un|une|dans l.équipe)\b"),
    (MemoryType.PERSON, USER,
     r"(?-i:\b[A-Z][a-zéè]+(?: [A-Z][a-zéè]+)?) (?:is|was) (?:the|our|a) [\w -]{0,40}\b(?:lead"
     r"|manager|engineer|designer|developer|maintainer|owner|contact|expert|reviewer|steward)\b"
     r"|(?-i:\b[A-Z][a-zéè]+) (?:owns|maintains|reviews|leads|runs|approves|signs off)\b"
     r"|(?-i:\b[A-Z][a-zéè]+) (?:gère|s.occupe|relit|valide|est (?:le|la|notre))\b"),
    (MemoryType.FACT, USER,
     r"\b(?:the|our|all|every|production|staging|prod) [\w ./`-]{0,60}?\b(?:runs? (?:on|in|at"
     r"|every|behind|under)|lives? (?:in|on|at|under)|is (?:stored|hosted|deployed|kept"
     r"|located|based) (?:in|on|at|by|with)|are (?:stored|hosted|deployed|kept|located"
     r"|based) (?:in|on|at|by)|listens on|expires? (?:after|every|in)|deploys? (?:on|at|from"
     r"|every|to|via))\b|\bwe (?:deploy|release|ship|host|build|test) .{0,50}\b(?:on|with|via"
     r"|from|every|to|in)\b|\b(?:la|le|les|notre|nos) [\w './`-]{0,60}?\b(?:tourne(?:nt)? sur"
     r"|est hébergée? |sont stockée?s|est stockée? )"),
    (MemoryType.REFERENCE, BOTH,
     r"\b(?:is|are) (?:documented|described|specified|explained) (?:in|at|under)\b"
     r"|\b(?:runbook|style ?guide|adr|design doc|spec|schema|playbook)\b.{0,40}\b(?:is|lives"
     r"|are) (?:in|at|on|under)\b|\b(?:est|sont) documentée?s? (?:dans|sur)\b"),
    (MemoryType.MODULE_INSIGHT, BOTH,
     r"\b(?:module|package|service|component|app|worker"
     r"|crate)\b.{0,50}\b(?:is (?:the only one|solely )?responsible for|owns|is the only)\b"
     r"|\bonly [`\w./-]+ (?:may|is allowed to|should) (?:write|touch|talk|call|import)\b"),
)
# fmt: on
_CUES: Final = tuple(
    (type, speakers, re.compile(pattern, re.IGNORECASE)) for type, speakers, pattern in _ROWS
)


def cue_in(*, speaker: Speaker, texts: tuple[str, ...]) -> MemoryType | None:
    """Return what the first cue in the ways to write a sentence makes it; None without one."""
    found = (
        type
        for type, speakers, pattern in _CUES
        if speaker in speakers and any(map(pattern.search, texts))
    )
    return next(found, None)


REJECTION = re.compile(
    r"^(?:no(?:pe)?\b(?! (?:problem|worries|need|rush|idea))|wrong\b|not quite|actually\b|stop\b"
    r"|that.s (?:not|wrong|incorrect)|you(?:.re| are) (?:wrong|mistaken)|correction\b|i meant\b"
    r"|please don.t|don.t do|non\b(?!-)|faux\b|pas du tout|en fait\b|c.est (?:faux|pas))",
    re.IGNORECASE,
)
ASKED_TO_KEEP = re.compile(
    r"^(?:please |also |and |can you |could you )?(?:remember|note|make a note|keep in mind"
    r"|don.t forget|save this|for the record|fyi|for your information|retiens|souviens-toi"
    r"|note bien|rappelle-toi|n.oublie pas|pour info)\b[:,]?(?: (?:that|qu[e’']))?[:,]? *",
    re.IGNORECASE,
)
