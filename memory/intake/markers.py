"""Words that tell a memory's type, one table; read by `memory.intake.classify`.

Each line is a type, the weight of its vote and the expression that casts it; weights are ours. The
expressions are bounded, so that a scan stays linear in the text.
"""

import re
from dataclasses import dataclass

from memory.taxonomy import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One expression that votes for a type."""

    type: MemoryType
    weight: int
    pattern: re.Pattern[str]


def _marker(type: MemoryType, weight: int, pattern: str) -> Marker:
    return Marker(type=type, weight=weight, pattern=re.compile(pattern, re.IGNORECASE))


FRENCH: tuple[Marker, ...] = (
    _marker(MemoryType.DEAD_END, 4, r"\ba essayé\b.{1,80}\bmais\b|\bimpasse\b|\babandonnée?s?\b"),
    _marker(MemoryType.CORRECTION, 4, r"^(?:rectification|en fait)\b"),
    _marker(
        MemoryType.DECISION,
        3,
        r"\b(?:on a|nous avons|l['\u2019]équipe a|ils ont) (?:décidé|choisi|opté|retenu)\b"
        r"|\bdécision\b|\bplutôt que\b",
    ),
    _marker(MemoryType.PREFERENCE, 3, r"\bpréf[éè]r\w+|\baime (?:mieux|bien)\b|\bdéteste\b"),
    _marker(
        MemoryType.COMMITMENT,
        3,
        r"\b(?:je vais|nous allons) (?:corriger|livrer|envoyer|finir|terminer)\b"
        r"|\bpromis de\b",
    ),
    _marker(
        MemoryType.REQUIREMENT,
        2,
        r"\bdoi(?:t|vent)\b|\bobligatoire\b|\bmandatory\b|\bno \w+ may\b",
    ),
    _marker(
        MemoryType.GOTCHA,
        3,
        r"\battention\s?:|\bpiège\b|\bméfie\w*|\ben silence\b|\bunexpectedly\b"
        r"|\bne jamais\b.{0,80}\b(?:sinon|car)\b",
    ),
    _marker(
        MemoryType.FIX,
        4,
        r"\b(?:corrigé|résolu)e?s? (?:en|par)\b|\bcontournement\b"
        r"|\bla solution (?:est|était)\b",
    ),
    _marker(
        MemoryType.CAUSAL_DEPENDENCY,
        4,
        r"\b(?:quand|si|chaque fois qu[e'\u2019]) ?(?:on|vous|tu) (?:chang|modifi|renomm)\w+"
        r" .{1,80}(?:faut|doit|aussi)",
    ),
    _marker(
        MemoryType.WORKFLOW_RECIPE,
        4,
        r"^to \w+ .{1,40}, first\b|^(?:pour|étapes pour) [^:.\n]{1,60}\s:",
    ),
    _marker(MemoryType.PATTERN, 2, r"\bpar convention\b|\bnous \w+ toujours\b"),
    _marker(
        MemoryType.MODULE_INSIGHT,
        3,
        r"\b(?:module|service|paquet|dossier|composant|répertoire)\b.{0,60}"
        r"\b(?:gère|contient|s['\u2019]occupe)\b",
    ),
    _marker(MemoryType.IDENTITY, 3, r"^(?:je m['\u2019]appelle|mon nom est)\b"),
    _marker(
        MemoryType.PERSON,
        3,
        r"\best (?:la|le|notre|un|une) (?:responsable|chef|développeu\w+|ingénieur\w*"
        r"|mainteneu\w+)|\btravaille (?:sur|chez|dans)\b",
    ),
    _marker(
        MemoryType.REFERENCE, 2, r"\b(?:se trouve|est décrite?|est documentée?) (?:dans|sous)\b"
    ),
    _marker(MemoryType.TOOL, 2, r"\b(?:lancez|lancer|utilisez|utiliser) `[^`]+`"),
    _marker(MemoryType.WORK_STATE, 3, r"\bil reste à\b|\breste à faire\b|\ben cours\b"),
    _marker(MemoryType.EVENT, 2, r"\bhier\b|\bce matin\b|\bla semaine dernière\b"),
)

MARKERS: tuple[Marker, ...] = (
    _marker(
        MemoryType.DEAD_END,
        4,
        r"\b(?:dead end|tried .{1,80} but (?:it )?(?:failed|did ?n.t work)"
        r"|does ?n.t work because|gave up on|abandoned)\b",
    ),
    _marker(
        MemoryType.CORRECTION,
        4,
        r"^(?:correction\b|actually,)|\b(?:i was wrong|we were wrong|was incorrect"
        r"|turned out to be wrong)\b",
    ),
    _marker(
        MemoryType.DECISION,
        3,
        r"\b(?:we|team|they) (?:have )?(?:decided|chose|agreed)\b|\b(?:decision"
        r"|decided to|chosen over|we(?:'ll| will) (?:use|go with)|rationale"
        r"|in favor of)\b",
    ),
    _marker(
        MemoryType.PREFERENCE,
        3,
        r"\b(?:prefers?|likes? to|would rather|favou?rs?|dislikes?)\b|\bi (?:hate"
        r"|love)\b",
    ),
    _marker(
        MemoryType.COMMITMENT,
        3,
        r"\b(?:i|we)(?:'ll| will) (?:deliver|finish|send|fix|ship)\b|\b(?:promised?"
        r"|committed) to\b",
    ),
    _marker(
        MemoryType.REQUIREMENT,
        2,
        r"\b(?:must|shall|is required to|requirement|needs? to support|has to be)\b",
    ),
    _marker(
        MemoryType.GOTCHA,
        3,
        r"\b(?:gotcha|beware|careful|watch out|caveat|pitfall|surprisingly|silently"
        r"|non-obvious|trap)\b|\bonly works (?:if|when)\b",
    ),
    _marker(
        MemoryType.GOTCHA,
        2,
        r"\b(?:never|do not|don.t|must not|avoid)\b.{0,80}\b(?:because|otherwise"
        r"|or else|since|it)\b",
    ),
    _marker(
        MemoryType.ERROR_PATTERN,
        3,
        r"(?-i:\b\w+(?:Error|Exception)\b)|\b(?:traceback|stack trace|fails with"
        r"|crashes (?:when|with)|exit code \d)",
    ),
    _marker(
        MemoryType.FIX,
        4,
        r"\b(?:fixed (?:by|it by)|the fix (?:is|was)|resolved by|solved by"
        r"|workaround)\b",
    ),
    _marker(
        MemoryType.CAUSAL_DEPENDENCY,
        4,
        r"\b(?:when|if|whenever) (?:you )?(?:chang|edit|modif|updat"
        r"|renam)\w* .{1,80}(?:must|also|need)|\bmust be (?:changed"
        r"|updated) together\b",
    ),
    _marker(
        MemoryType.WORKFLOW_RECIPE,
        3,
        r"\bsteps? to\b|^\s*1[.)] .+\n\s*2[.)] |\bhow to (?:add|deploy|release|run"
        r"|create)\b",
    ),
    _marker(
        MemoryType.PATTERN,
        2,
        r"\b(?:pattern|convention|idiom|we (?:usually|always) (?:structure|build"
        r"|write))\b",
    ),
    _marker(
        MemoryType.MODULE_INSIGHT,
        3,
        r"\b(?:module|package|service|component|directory"
        r"|folder)\b.{0,60}\b(?:is responsible for|handles|owns|contains|implements)\b",
    ),
    _marker(
        MemoryType.IDENTITY,
        3,
        r"^(?:my name is|i am called|call me)\b|\bthe assistant is (?:called|named)\b",
    ),
    _marker(
        MemoryType.PERSON,
        3,
        r"\b(?:works (?:on|at|as|in)|is (?:the|our|a) (?:lead|manager|engineer"
        r"|designer|developer|maintainer))\b",
    ),
    _marker(
        MemoryType.REFERENCE,
        2,
        r"\b(?:see|documented (?:in|at)|docs? (?:are|is) (?:in|at)|can be found (?:in"
        r"|at)|runbook)\b",
    ),
    _marker(
        MemoryType.TOOL,
        2,
        r"\b(?:run|use) `[^`]+`|\b(?:cli|command) (?:to|for)\b",
    ),
    _marker(
        MemoryType.WORK_STATE,
        3,
        r"\b(?:in progress|remaining work|left to do|next step is|wip|stopped at"
        r"|continue with)\b",
    ),
    _marker(
        MemoryType.EVENT,
        2,
        r"\b(?:yesterday|this morning|last (?:week|night)|on \d{4}-\d{2}-\d{2}"
        r"|was (?:deployed|released|merged))\b",
    ),
    *FRENCH,
)
