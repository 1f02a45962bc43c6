"""Words that tell that a sentence of a conversation is worth keeping, one table.

Each line is what a sentence then is, who must have said it, and the expression. They are narrower
than the markers that merely name a type (`memory.intake.markers`): a plan, a report of what was
just done and a wish for this one task have none of them. English, and a small set for French. All
are bounded, so a scan stays linear in the text.
"""

import re
from dataclasses import dataclass

from memory.sessions.turns import Speaker
from memory.taxonomy import MemoryType

BOTH = frozenset({Speaker.USER, Speaker.ASSISTANT})
USER = frozenset({Speaker.USER})
AGENT = frozenset({Speaker.ASSISTANT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One expression: the type of what it marks, and whose words it is believed in."""

    type: MemoryType
    speakers: frozenset[Speaker]
    pattern: re.Pattern[str]


def _cue(type: MemoryType, speakers: frozenset[Speaker], pattern: str) -> Cue:
    return Cue(type=type, speakers=speakers, pattern=re.compile(pattern, re.IGNORECASE))


_ERROR = r"(?-i:\b[A-Z]\w*(?:Error|Exception)\b|\b[A-Z]{2,}[-_]?\d{2,}\b)"

CUES: tuple[Cue, ...] = (
    _cue(
        MemoryType.DEAD_END,
        BOTH,
        r"\b(?:we|i|they) (?:already )?tried\b.{3,160}\b(?:but|and it|didn.t|did not|failed"
        r"|broke)\b"
        r"|\b(?:gave up on|dead end|turned out (?:not to work|to be a dead end|unusable))\b"
        r"|\b(?:on a|nous avons) (?:déjà )?essayé\b.{3,160}\b(?:mais|sans succès)\b",
    ),
    _cue(
        MemoryType.CAUSAL_DEPENDENCY,
        BOTH,
        r"\b(?:when(?:ever)?|if|every time) (?:you|we|someone|anyone) (?:add|chang|edit|modif|renam"
        r"|updat|touch|remov|bump)\w* .{3,120}\b(?:must|also|needs? to|has to|have to"
        r"|remember to)\b"
        r"|\bmust (?:always )?be (?:changed|updated|edited|kept) (?:together|in sync)\b"
        r"|\b(?:si|quand|chaque fois qu)\S* (?:on|vous|tu|nous) (?:chang|modifi|ajout|renomm)\w* "
        r".{3,120}\b(?:faut|devez|doit|aussi)\b",
    ),
    _cue(
        MemoryType.DECISION,
        BOTH,
        r"\bwe(?:.ve| have)? (?:just |also |finally )?(?:decided|agreed|chose|settled on|opted"
        r"|standardi[sz]ed on|picked)\b|\b(?:the )?(?:decision|team decision)(?: is| was|:)"
        r"|\bit (?:was|has been) (?:decided|agreed)\b|\bthe team (?:decided|agreed|chose|settled)\b"
        r"|\bwe(?:.re| are) (?:moving|switching|migrating|standardi[sz]ing)\b.{0,60}"
        r"\b(?:to|from|on|off|away)\b"
        r"|\bwe (?:moved|switched|migrated)\b.{0,60}\b(?:to|from|off|away)\b"
        r"|\b(?:on a|nous avons|l.équipe a) (?:finalement )?(?:décidé|choisi|convenu|retenu)\b",
    ),
    _cue(
        MemoryType.DECISION,
        USER,
        r"\b(?:let.s|we(?:.ll| will|.re going to| are going to)) (?:go with|stick (?:with|to)"
        r"|stay (?:with|on)|standardi[sz]e on|keep using|drop support)\b"
        r"|\bon (?:part|garde|reste) (?:sur|avec)\b",
    ),
    _cue(
        MemoryType.FIX,
        BOTH,
        r"\b(?:fixed|solved|resolved|cured|worked around)(?: (?:it|this|that"
        r"|the \w+(?: \w+)?))? by\b"
        r"|\bthe (?:real |actual |proper )?(?:fix|solution|workaround|cure) (?:is|was)"
        r" (?:to|that|by|in|a|an|the|simply|just|adding|using|setting|making|\w+ing)\b"
        r"|\b(?:corrigé|résolu|réglé)e?s? (?:en|par)\b|\bla solution (?:est|était|c.est)\b",
    ),
    _cue(
        MemoryType.ERROR_PATTERN,
        BOTH,
        r"\b(?:root cause|culprit)\b.{0,60}\b(?:is|was|:)"
        r"|\bthe (?:real |actual |underlying )?(?:problem|issue|bug|cause|failure|crash|error"
        r"|deadlock|leak|timeout|flak(?:e|iness)) (?:is|was|came|comes|happens|happened)\b.{0,20}"
        r"\b(?:that|because|when|from|caused|due|in|a|an|the)\b"
        r"|\b(?:is|was|were|are) (?:caused by|due to)\b|\b(?:turns|turned) out (?:that )?\b"
        r"|\b(?:fail|crash|hang|break|time|deadlock|leak)(?:s|es|ed)? (?:out )?"
        r"(?:with|when(?:ever)?|if|because|unless)\b.{5,}|" + _ERROR + r".{0,80}\b(?:means|comes"
        r" from|happens|because|when|unless)\b"
        r"|\b(?:le (?:problème|bug|plantage)|l.erreur) (?:vient|venait|était|est (?:dû|causé))\b",
    ),
    _cue(
        MemoryType.ERROR_PATTERN,
        AGENT,
        r", (?:so|which means)(?: that)? (?!(?:i|we|let|you|it.s fine|that.s fine)\b)[\w`-]+ .{5,}",
    ),
    _cue(
        MemoryType.GOTCHA,
        AGENT,
        r"\b(?:is|are|closes?|uses?|runs?|expires?|keeps?|limits?)\b.{0,80}\bby default\b",
    ),
    _cue(
        MemoryType.GOTCHA,
        BOTH,
        r"\b(?:gotcha|beware|watch out|caveat|pitfall|be careful|careful:|careful with)\b"
        r"|\b(?:keep in mind|be aware|note|bear in mind) that\b"
        r"|\bonly works? (?:if|when|with|on|after)\b|\bsilently\b.{3,}"
        r"|\b(?:does|do|will|did)(?:n.t| not) (?:work|run|start|build|compile|support) (?:with|on"
        r"|when|if|unless|because|without|under|behind)\b"
        r"|\b(?:never|don.t|do not|must not|avoid) \w+.{3,120}\b(?:because|otherwise|or else"
        r"|since it|it (?:will|would|breaks?))\b"
        r"|\b(?:attention|piège|méfie(?:z-vous|-toi))\b.{5,}|\bne marche (?:pas|que) (?:si|quand"
        r"|avec"
        r"|sans|sous)\b",
    ),
    _cue(
        MemoryType.REQUIREMENT,
        USER,
        r"\b(?:must|shall)(?: always| never| not)? (?!have (?:been|forgotten|missed))\w+"
        r"|\b(?:is|are) (?:required|mandatory|not allowed|forbidden|prohibited)\b"
        r"|\b(?:may not|is not permitted to)\b"
        r"|\b(?!(?:i|you|we|i.ll|you.ll|we.ll)\b)[\w`/.-]+ (?:has|have|needs?) to (?:be|support"
        r"|work"
        r"|stay|remain|run|keep|pass|return|accept|fit|finish|start|handle)\b"
        r"|\b(?:doit|doivent) (?:toujours |jamais |rester |être |pouvoir |passer |tourner )"
        r"|\b(?:est|sont) (?:obligatoires?|interdite?s?|exigée?s?)\b",
    ),
    _cue(
        MemoryType.REQUIREMENT,
        AGENT,
        r"\bthe (?:spec|contract|requirement|client|customer|law|policy) (?:says|requires|demands"
        r"|is that)\b",
    ),
    _cue(
        MemoryType.PREFERENCE,
        USER,
        r"\bi(?:.d| would)? (?:really |strongly |much )?(?:prefer|dislike|hate|favou?r"
        r"|can.t stand)\b"
        r"|\b(?:from now on|going forward|as a rule|by default|in general),? .{6,}"
        r"|^(?:please )?(?:always|never) \w+|\bwe (?:always|never|usually|prefer)\b"
        r"|^(?:please )?(?:stop|quit) (?:using|adding|writing|putting|wrapping)\b"
        r"|\bi (?:always|never) (?:want|use|write)\b|\bi like (?:my|our|the|to|short|small|when)\b"
        r"|\b(?:keep|write|make) (?:all |your |the |every )?(?:answers|replies|responses|commits?"
        r"(?: messages)?|functions|pull requests|prs|comments|summaries)\b.{4,}"
        r"|\b(?:je|on|nous) préf(?:ère|érons)\b|\b(?:désormais|dorénavant|à partir de maintenant)\b"
        r"|^(?:toujours|jamais) \w+|\bj.aime (?:pas|mieux)\b",
    ),
    _cue(
        MemoryType.PREFERENCE,
        USER,
        r"^(?:please )?(?:use|prefer|write|name|run|call) [^.?!]{2,80}\b(?:not|instead of"
        r"|rather than|never)\b [^.?!]{2,}|\bwe (?:use|do|write|run) [^.?!]{2,60}"
        r"(?:,| and) (?:not|never)\b"
        r"|\b(?:utilis|écri)\w+ [^.?!]{2,80}\b(?:plutôt que|au lieu d|et pas|pas de)\b",
    ),
    _cue(
        MemoryType.PREFERENCE,
        USER,
        r"\bin this (?:project|repo(?:sitory)?|codebase|team|company)\b,? .{10,}"
        r"|,(?: and| but)?(?: please)? never \w+|^ask (?-i:[A-Z])\w+ (?:before|when|if)\b"
        r"|\bfor (?:anything|everything|all) .{2,60}(?:it.s|ask|talk to) (?-i:[A-Z])\w+",
    ),
    _cue(
        MemoryType.REQUIREMENT,
        USER,
        r"\b(?:is|are) (?:kept|retained|deleted|removed|rotated) (?:for|after|until|every"
        r"|within)\b",
    ),
    _cue(
        MemoryType.IDENTITY,
        USER,
        r"\b(?:my name is|i am called|call me (?-i:[A-Z]))|\bi(?:.m| am) (?:the|a|an|on the|in the"
        r"|on"
        r" call for) [\w -]{0,40}\b(?:lead|engineer|developer|dev|manager|designer|maintainer|owner"
        r"|founder|architect|analyst|sre|team|intern|admin\w*|researcher|scientist|contractor)\b"
        r"|\bi work (?:on|at|as|in|for|from)\b|\bje (?:m.appelle|travaille (?:sur|chez|comme"
        r"|dans))\b"
        r"|\bje suis (?:le|la|l.|un|une|dans l.équipe)\b",
    ),
    _cue(
        MemoryType.PERSON,
        USER,
        r"(?-i:\b[A-Z][a-zéè]+(?: [A-Z][a-zéè]+)?) (?:is|was) (?:the|our|a) [\w -]{0,40}\b(?:lead"
        r"|manager|engineer|designer|developer|maintainer|owner|contact|expert|reviewer|steward)\b"
        r"|(?-i:\b[A-Z][a-zéè]+) (?:owns|maintains|reviews|leads|runs|approves|signs off)\b"
        r"|(?-i:\b[A-Z][a-zéè]+) (?:gère|s.occupe|relit|valide|est (?:le|la|notre))\b",
    ),
    _cue(
        MemoryType.FACT,
        USER,
        r"\b(?:the|our|all|every|production|staging|prod) [\w ./`-]{0,60}?\b(?:runs? (?:on|in|at"
        r"|every"
        r"|behind|under)|lives? (?:in|on|at|under)|is (?:stored|hosted|deployed|kept|located|based)"
        r" (?:in|on|at|by|with)|are (?:stored|hosted|deployed|kept|located|based) (?:in|on|at|by)"
        r"|listens on|expires? (?:after|every|in)|deploys? (?:on|at|from|every|to|via))\b"
        r"|\bwe (?:deploy|release|ship|host|build|test) .{0,50}\b(?:on|with|via|from|every|to|in)\b"
        r"|\b(?:la|le|les|notre|nos) [\w './`-]{0,60}?\b(?:tourne(?:nt)? sur|est hébergée? |sont"
        r" stockée?s|est stockée? )",
    ),
    _cue(
        MemoryType.REFERENCE,
        BOTH,
        r"\b(?:is|are) (?:documented|described|specified|explained) (?:in|at|under)\b"
        r"|\b(?:runbook|style ?guide|adr|design doc|spec|schema|playbook)\b.{0,40}\b(?:is|lives"
        r"|are) "
        r"(?:in|at|on|under)\b|\b(?:est|sont) documentée?s? (?:dans|sur)\b",
    ),
    _cue(
        MemoryType.MODULE_INSIGHT,
        BOTH,
        r"\b(?:module|package|service|component|app|worker|crate)\b.{0,50}"
        r"\b(?:is (?:the only one|solely )?responsible for|owns|is the only)\b"
        r"|\bonly [`\w./-]+ (?:may|is allowed to|should) (?:write|touch|talk|call|import)\b",
    ),
)
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
