"""Words that make, change or take back a statement, one table; English and French.

Read by `memory.records.statements`. The expressions are bounded, so a scan stays linear in the
text.
"""

import re
from collections.abc import Mapping
from typing import Final

NEGATORS: Final = frozenset({
    "not", "no", "never", "none", "neither", "nor", "cannot", "without", "avoid", "disable",
    "disabled", "disallow", "forbid", "off", "forbidden", "deny", "prohibited", "stop", "fails",
    "false", "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "weren't", "can't",
    "couldn't", "won't", "wouldn't", "mustn't", "shouldn't", "hasn't", "haven't",
    "pas", "jamais", "aucun", "aucune", "sans", "interdit", "interdite", "éviter", "évitez",
    "désactivé", "désactivée", "désactiver", "désactivés", "faux",
})  # fmt: skip
POSITIVES: Final = frozenset({
    "always", "must", "should", "use", "enable", "enabled", "allow", "allowed", "true", "on", "do",
    "does", "toujours", "doit", "doivent", "activé", "activée", "activer", "activés", "autorisé",
    "autorisée", "vrai",
})  # fmt: skip
FILLERS: Final = frozenset({
    "now", "currently", "instead", "again", "still", "already", "longer", "ne", "n", "désormais",
    "maintenant", "actuellement", "encore", "déjà", "dorénavant",
})  # fmt: skip
CHANGES: Final = frozenset({  # verbs that tell of a change and not of a subject
    "changed", "change", "moved", "migrated", "switched", "replaced", "updated", "upgraded",
    "raised", "lowered", "increased", "reduced", "decreased", "bumped", "set", "instead", "since",
    "anymore", "plus", "passé", "passée", "migré", "remplacé", "porté", "portée", "réduit",
    "réduite", "augmenté", "depuis", "lieu", "stopped", "removed", "dropped", "supprimé",
})  # fmt: skip
SMALL: Final = frozenset({
    "a", "an", "the", "and", "or", "but", "of", "in", "at", "to", "for", "from", "with", "by", "as",
    "is", "are", "was", "were", "be", "been", "being", "it", "its", "this", "that", "these",
    "those", "we", "our", "us", "you", "your", "they", "their", "i", "my", "has", "have", "had",
    "will", "would", "can", "could", "may", "might", "shall", "than", "then", "so", "if", "when",
    "while", "before", "after", "until", "there", "here", "all", "each", "every", "any", "only",
    "also", "just", "about", "into", "per", "prior", "up", "down", "out", "over", "under", "did",
    "done", "them", "which", "who", "what", "where", "because", "le", "la", "les", "l", "un",
    "une", "des", "du", "de", "d", "et", "ou", "en", "dans", "sur", "pour", "par", "avec", "à",
    "au", "aux", "est", "sont", "était", "étaient", "ce", "cette", "ces", "cet", "il", "elle",
    "ils", "elles", "on", "nous", "notre", "nos", "vous", "votre", "se", "s", "qui", "que", "qu",
    "y", "ont", "avons", "être", "avoir", "son", "sa", "ses", "leur", "leurs", "quand", "si",
    "mais", "car", "donc", "tout", "tous", "toute", "toutes", "avant", "après",
})  # fmt: skip
ENDINGS: Final = ("ies", "ing", "ed", "es", "s", "ent", "ait")  # the longest that fits is cut
SCOPES: Final[Mapping[str, str]] = {  # words that say where a statement holds, and the place
    "dev": "development", "development": "development", "développement": "development",
    "test": "test", "tests": "test", "testing": "test", "staging": "staging",
    "preprod": "staging", "préproduction": "staging", "preproduction": "staging",
    "recette": "staging", "qa": "staging", "prod": "production", "production": "production",
    "local": "local", "locally": "local", "localhost": "local", "localement": "local",
    "ci": "ci", "linux": "linux", "ubuntu": "linux", "debian": "linux", "alpine": "linux",
    "macos": "macos", "mac": "macos", "windows": "windows", "ios": "ios", "android": "android",
    "arm": "arm", "x86": "x86", "mobile": "mobile", "desktop": "desktop", "client": "client",
    "server": "server", "serveur": "server", "frontend": "frontend", "backend": "backend",
    "europe": "europe", "eu": "europe", "asia": "asia", "free": "free",
    "paid": "paid", "enterprise": "enterprise", "admin": "admin", "admins": "admin",
    "anonymous": "anonymous", "nightly": "nightly", "weekly": "weekly", "daily": "daily",
    "weekend": "weekend", "weekends": "weekend", "weekdays": "weekdays", "read": "read",
    "write": "write", "lecture": "read", "écriture": "write",
}  # fmt: skip
TIMES: Final = re.compile(
    r"\b(?:in|on|during|before|until|under|with|for|en|sous|pour|avant|pendant|avec) "
    r"(?:v(?:ersion)? ?\d[\d.]*|(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?|q[1-4]|python \d[\d.]*"
    r"|node \d[\d.]*|(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre"
    r"|novembre|décembre)\b)|\b(?:last|next|this) (?:year|month|week|sprint|release)\b"
)
NUMBERED: Final = re.compile(  # a number that says which one is meant, not how much
    r"\b(?:number|no\.?|numéro|n°|step|étape|ticket|issue|bug|pr|mr|line|ligne|chapter|section|case"
    r"|cas|part|partie|shard|replica|instance|row|page|item|sprint|milestone|adr|rfc|spec|rule"
    r"|règle|test|task|tâche|fact|id|variant|option|level|tier|room|floor) ?#?\d+\b|#\d+\b"
)
REASON: Final = re.compile(  # what follows says why, and asserts nothing of the subject
    r"[,;]? \b(?:because|since (?!\d)|so that|unless|otherwise|or else|car|parce que|sinon"
    r"|à moins que|puisque)\b",
    re.IGNORECASE,
)
UPDATE: Final = re.compile(
    r"\b(?:now|instead of|no longer|changed (?:to|from)|migrated|switched|moved to|replaced|renamed"
    r"|as of|since \d+|from \S+ to \S+|updated to|upgraded|raised to|lowered to|increased to"
    r"|reduced to|bumped to|désormais|dorénavant|maintenant|au lieu d[e']|remplacée?s? par"
    r"|renommée?s?|est passée?s? à|depuis \d+|migrée?s?|de \S+ à \S+)\b",
    re.IGNORECASE,
)
RETRACTION: Final = re.compile(
    r"\b(?:no longer|not anymore|any ?more|was removed|were removed|has been removed|is gone"
    r"|stopped using|dropped support|deprecated|obsolete|was (?:deleted|retired|abandoned)"
    r"|obsolète|abandonnée?s?|(?:a|ont) été (?:supprimée?s?|retirée?s?))\b"
    r"|\b(?:ne |n['\u2019])\w+(?: \w+)? plus\b",
    re.IGNORECASE,
)
