"""Words that tell a memory's type, one table; read by `memory.intake.classify`.

Each row is a type, the weight of its vote (a default, not measured) and the expression that casts
it. The expressions are bounded, so that a scan stays linear in the text.
"""

import re
from typing import Final

from memory.taxonomy import MemoryType

# fmt: off
_ENGLISH: Final = (
    (MemoryType.DEAD_END, 4,
     r"\b(?:dead end|tried .{1,80} but (?:it )?(?:failed|did ?n.t work)"
     r"|does ?n.t work because|gave up on|abandoned)\b"),
    (MemoryType.CORRECTION, 4,
     r"^(?:correction\b|actually,)|\b(?:i was wrong|we were wrong|was incorrect"
     r"|turned out to be wrong)\b"),
    (MemoryType.DECISION, 3,
     r"\b(?:we|team|they) (?:have )?(?:decided|chose|agreed)\b|\b(?:decision|decided to"
     r"|chosen over|we(?:'ll| will) (?:use|go with)|rationale|in favor of)\b"),
    (MemoryType.PREFERENCE, 3,
     r"\b(?:prefers?|likes? to|would rather|favou?rs?|dislikes?)\b|\bi (?:hate|love)\b"),
    (MemoryType.COMMITMENT, 3,
     r"\b(?:i|we)(?:'ll| will) (?:deliver|finish|send|fix|ship)\b|\b(?:promised?"
     r"|committed) to\b"),
    (MemoryType.REQUIREMENT, 2,
     r"\b(?:must|shall|is required to|requirement|needs? to support|has to be)\b"),
    (MemoryType.GOTCHA, 3,
     r"\b(?:gotcha|beware|careful|watch out|caveat|pitfall|surprisingly|silently|non-obvious"
     r"|trap)\b|\bonly works (?:if|when)\b"),
    (MemoryType.GOTCHA, 2,
     r"\b(?:never|do not|don.t|must not|avoid)\b.{0,80}\b(?:because|otherwise|or else|since"
     r"|it)\b"),
    (MemoryType.ERROR_PATTERN, 3,
     r"(?-i:\b\w+(?:Error|Exception)\b)|\b(?:traceback|stack trace|fails with|crashes (?:when"
     r"|with)|exit code \d)"),
    (MemoryType.FIX, 4,
     r"\b(?:fixed (?:by|it by)|the fix (?:is|was)|resolved by|solved by|workaround)\b"),
    (MemoryType.CAUSAL_DEPENDENCY, 4,
     r"\b(?:when|if|whenever) (?:you )?(?:chang|edit|modif|updat|renam)\w* .{1,80}(?:must"
     r"|also|need)|\bmust be (?:changed|updated) together\b"),
    (MemoryType.WORKFLOW_RECIPE, 3,
     r"\bsteps? to\b|^\s*1[.)] .+\n\s*2[.)] |\bhow to (?:add|deploy|release|run|create)\b"),
    (MemoryType.PATTERN, 2,
     r"\b(?:pattern|convention|idiom|we (?:usually|always) (?:structure|build|write))\b"),
    (MemoryType.MODULE_INSIGHT, 3,
     r"\b(?:module|package|service|component|directory"
     r"|folder)\b.{0,60}\b(?:is responsible for|handles|owns|contains|implements)\b"),
    (MemoryType.IDENTITY, 3,
     r"^(?:my name is|i am called|call me)\b|\bthe assistant is (?:called|named)\b"),
    (MemoryType.PERSON, 3,
     r"\b(?:works (?:on|at|as|in)|is (?:the|our|a) (?:lead|manager|engineer|designer"
     r"|developer|maintainer))\b"),
    (MemoryType.REFERENCE, 2,
     r"\b(?:see|documented (?:in|at)|docs? (?:are|is) (?:in|at)|can be found (?:in|at)"
     r"|runbook)\b"),
    (MemoryType.TOOL, 2, r"\b(?:run|use) `[^`]+`|\b(?:cli|command) (?:to|for)\b"),
    (MemoryType.WORK_STATE, 3,
     r"\b(?:in progress|remaining work|left to do|next step is|wip|stopped at"
     r"|continue with)\b"),
    (MemoryType.EVENT, 2,
     r"\b(?:yesterday|this morning|last (?:week|night)|on \d{4}-\d{2}-\d{2}|was (?:deployed"
     r"|released|merged))\b"),
)
_FRENCH: Final = (
    (MemoryType.DEAD_END, 4, r"\ba essayé\b.{1,80}\bmais\b|\bimpasse\b|\babandonnée?s?\b"),
    (MemoryType.CORRECTION, 4, r"^(?:rectification|en fait)\b"),
    (MemoryType.DECISION, 3,
     r"\b(?:on a|nous avons|l['\u2019]équipe a|ils ont) (?:décidé|choisi|opté|retenu)\b"
     r"|\bdécision\b|\bplutôt que\b"),
    (MemoryType.PREFERENCE, 3, r"\bpréf[éè]r\w+|\baime (?:mieux|bien)\b|\bdéteste\b"),
    (MemoryType.COMMITMENT, 3,
     r"\b(?:je vais|nous allons) (?:corriger|livrer|envoyer|finir|terminer)\b|\bpromis de\b"),
    (MemoryType.REQUIREMENT, 2, r"\bdoi(?:t|vent)\b|\bobligatoire\b|\bmandatory\b|\bno \w+ may\b"),
    (MemoryType.GOTCHA, 3,
     r"\battention\s?:|\bpiège\b|\bméfie\w*|\ben silence\b|\bunexpectedly\b"
     r"|\bne jamais\b.{0,80}\b(?:sinon|car)\b"),
    (MemoryType.FIX, 4,
     r"\b(?:corrigé|résolu)e?s? (?:en|par)\b|\bcontournement\b|\bla solution (?:est|était)\b"),
    (MemoryType.CAUSAL_DEPENDENCY, 4,
     r"\b(?:quand|si|chaque fois qu[e'\u2019]) ?(?:on|vous|tu) (?:chang|modifi"
     r"|renomm)\w+ .{1,80}(?:faut|doit|aussi)"),
    (MemoryType.WORKFLOW_RECIPE, 4,
     r"^to \w+ .{1,40}, first\b|^(?:pour|étapes pour) [^:.\n]{1,60}\s:"),
    (MemoryType.PATTERN, 2, r"\bpar convention\b|\bnous \w+ toujours\b"),
    (MemoryType.MODULE_INSIGHT, 3,
     r"\b(?:module|service|paquet|dossier|composant|répertoire)\b.{0,60}\b(?:gère|contient"
     r"|s['\u2019]occupe)\b"),
    (MemoryType.IDENTITY, 3, r"^(?:je m['\u2019]appelle|mon nom est)\b"),
    (MemoryType.PERSON, 3,
     r"\best (?:la|le|notre|un|une) (?:responsable|chef|développeu\w+|ingénieur\w*"
     r"|mainteneu\w+)|\btravaille (?:sur|chez|dans)\b"),
    (MemoryType.REFERENCE, 2, r"\b(?:se trouve|est décrite?|est documentée?) (?:dans|sous)\b"),
    (MemoryType.TOOL, 2, r"\b(?:lancez|lancer|utilisez|utiliser) `[^`]+`"),
    (MemoryType.WORK_STATE, 3, r"\bil reste à\b|\breste à faire\b|\ben cours\b"),
    (MemoryType.EVENT, 2, r"\bhier\b|\bce matin\b|\bla semaine dernière\b"),
)
# fmt: on

MARKERS: Final = tuple(
    (type, weight, re.compile(pattern, re.IGNORECASE))
    for type, weight, pattern in (*_ENGLISH, *_FRENCH)
)
