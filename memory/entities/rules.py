"""Entities by pattern, on every write: mentions, tags, mail, URLs, dates, paths, code, versions,
tools, services, quoted names.

This is the fast reading; the kinds from `PERSON` on are found by the accurate one alone
(`accurate`). Each kind is one expression that can start only at a word's beginning, so a scan is
linear in the text. Where spans overlap the highest confidence wins, then the longest.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Tools and libraries by one name each, and what else each is called; a literal table.
#
# Names that are words of everyday language too (`go`, `rust`, `spring`, `express`, `vault`) are
# left out: a text would seem to speak of them where it does not.

# fmt: off
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {  # first what the table calls it
    "airflow": (), "alembic": (), "ansible": (), "argocd": ("argo cd",), "aws": (), "azure": (),
    "bazel": (), "bigquery": ("big query",), "bitbucket": (), "cassandra": (), "celery": (),
    "circleci": ("circle ci",), "clickhouse": ("click house",), "cloudflare": (),
    "cloudformation": ("cloud formation",), "cloudfront": ("cloud front",),
    "cloudwatch": ("cloud watch",), "cockroachdb": ("cockroach db",), "datadog": (), "dbt": (),
    "debezium": (), "django": (), "docker": (), "dynamodb": ("dynamo db",), "ec2": (),
    "elasticsearch": ("elastic search",), "eslint": ("es lint",), "etcd": (),
    "fastapi": ("fast api",), "firebase": (), "flink": (), "gcp": ("google cloud",), "git": (),
    "github": ("git hub",), "gitlab": ("git lab",), "golang": (), "grafana": (),
    "graphql": ("graph ql",), "grpc": ("g rpc",), "gunicorn": (), "haproxy": ("ha proxy",),
    "helm": (), "heroku": (), "hibernate": (), "istio": (), "javascript": ("java script", "js"),
    "jenkins": (), "jira": (), "junit": (), "kafka": ("apache kafka",), "kibana": (), "kotlin": (),
    "kubernetes": ("k8s", "kube"), "laravel": (), "mariadb": ("maria db",),
    "memcached": ("memcache",), "mongodb": ("mongo", "mongo db"), "mysql": ("my sql",), "mypy": (),
    "nestjs": ("nest js",), "nextjs": ("next js",), "nginx": (), "nodejs": ("node js",), "npm": (),
    "numpy": ("num py",), "oauth": ("oauth2", "oauth 2", "o auth", "o auth2"), "okta": (),
    "openapi": ("open api",), "opentelemetry": ("open telemetry", "otel"), "pandas": (),
    "pgbouncer": ("pg bouncer",), "pgvector": (), "playwright": (),
    "postgresql": ("postgres", "postgre sql", "psql"), "prometheus": (),
    "protobuf": ("protocol buffers",), "psycopg": ("psycopg2", "psycopg 2", "psycopg3"),
    "pulumi": (), "pydantic": (), "pytest": (), "python": (), "pytorch": ("py torch",),
    "rabbitmq": ("rabbit mq",), "redis": (), "redshift": (), "s3": ("amazon s3", "aws s3"),
    "sentry": (), "sqlalchemy": ("sql alchemy",), "sqlite": ("sqlite3", "sq lite"), "sqs": (),
    "stripe": (), "tailwind": ("tailwindcss",), "tensorflow": ("tensor flow",), "terraform": (),
    "traefik": (), "typescript": ("type script", "ts"), "uvicorn": (), "valkey": (), "vite": (),
    "vitest": (), "webpack": (), "zookeeper": ("zoo keeper",), "zustand": (),
}
# fmt: on
CANONICAL: Final[Mapping[str, str]] = {
    alias: name for name, others in ALIASES.items() for alias in (name, *others)
}
WORDS: Final = frozenset(alias for alias in CANONICAL if alias.isalnum())  # names of one word


class EntityKind(StrEnum):
    """What a span looks like."""

    EMAIL = "email"
    URL = "url"
    DATE = "date"
    PATH = "path"
    CODE = "code"
    VERSION = "version"
    MENTION = "mention"
    TOOL = "tool"
    QUOTED = "quoted"
    PERSON = "person"
    ORGANIZATION = "organization"
    LOCATION = "location"
    PERIOD = "period"


class EntityType(StrEnum):
    """What a named thing is."""

    PERSON = "person"
    PROJECT = "project"
    ORGANIZATION = "organization"
    LOCATION = "location"
    SYSTEM = "system"
    EMAIL = "email"
    URL = "url"
    OTHER = "other"


ENTITY_TYPES: dict[EntityKind, EntityType] = {
    EntityKind.EMAIL: EntityType.EMAIL,
    EntityKind.URL: EntityType.URL,
    EntityKind.DATE: EntityType.OTHER,
    EntityKind.PATH: EntityType.SYSTEM,
    EntityKind.CODE: EntityType.SYSTEM,
    EntityKind.VERSION: EntityType.OTHER,
    EntityKind.MENTION: EntityType.PERSON,
    EntityKind.TOOL: EntityType.SYSTEM,
    EntityKind.QUOTED: EntityType.OTHER,
    EntityKind.PERSON: EntityType.PERSON,
    EntityKind.ORGANIZATION: EntityType.ORGANIZATION,
    EntityKind.LOCATION: EntityType.LOCATION,
    EntityKind.PERIOD: EntityType.OTHER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySpan:
    """One entity in a text: kind, text as it stands, where, and how sure the pattern is (0..1)."""

    kind: EntityKind
    text: str
    start: int
    end: int
    confidence: float


_MONTH = (
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
    r"|janv(?:ier|\.)|févr(?:ier|\.)|mars|avr(?:il|\.)|mai|juin|juil(?:let|\.)|août|sept(?:embre|\.)"
    r"|oct(?:obre|\.)|nov(?:embre|\.)|déc(?:embre|\.))"
)
WRITTEN_DATES: Final = (
    rf"(?<!\w){_MONTH} \d{{1,2}},? \d{{4}}(?!\d)",
    rf"(?<!\w)\d{{1,2}}(?:er)? {_MONTH} \d{{4}}(?!\d)",
)
_EXTENSION = (
    r"(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|rb|php|cs|c|cc|cpp|h|hpp|swift|scala|sql|sh|md"
    r"|rst|txt|json|yaml|yml|toml|ini|cfg|env|lock|html|css|scss|vue|svelte|proto|tf|xml|csv)"
)
_COMPONENTS = "service|worker|gateway|daemon|scheduler|api|db|client|proxy"
_SIGNALS = (
    r"(?:E(?:ACCES|ADDRINUSE|AGAIN|BADF|BUSY|CONNABORTED|CONNREFUSED|CONNRESET|EXIST|HOSTUNREACH"
    r"|INTR|INVAL|IO|ISDIR|LOOP|MFILE|NETUNREACH|NOENT|NOMEM|NOSPC|NOTDIR|NOTFOUND|PERM|PIPE"
    r"|TIMEDOUT)|SIG(?:ABRT|CHLD|HUP|INT|KILL|PIPE|QUIT|SEGV|STOP|TERM|USR[12]))"
)
_DIGIT, _HUMP = r"\d", r"[a-z0-9][A-Z]"
_PATTERNS: tuple[tuple[EntityKind, float, str, str], ...] = (
    # confidences: ours; the last is found, at once, in each text that has such an entity
    (EntityKind.URL, 0.97, r"(?<!\w)https?://[^\s<>\"'`)\]}]+", "://"),
    (  # neither `git@host:path` nor `name@v1.0` nor `icon@2x.png`
        EntityKind.EMAIL,
        0.95,
        r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}(?!png|jpe?g|gif|svg|webp|ico)"
        r"[A-Za-z]{2,24}(?!\w|[.:-]\w)",
        "@",
    ),
    (
        EntityKind.DATE,
        0.92,
        r"(?<![\w-])\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?",
        _DIGIT,
    ),
    *((EntityKind.DATE, 0.90, pattern, _DIGIT) for pattern in WRITTEN_DATES),
    (EntityKind.PATH, 0.88, r"(?<![\w@./-])(?:~|\.{1,2}|/[\w@.-]+)/(?:[\w@.-]+/)*[\w.-]*\w", "/"),
    (  # two words alone may mean “or”: `read/write`; neither a host nor a date
        EntityKind.PATH,
        0.88,
        r"(?<![\w@./-])\.?[A-Za-z_@][\w@-]*/(?:(?:[\w@.-]+/)+[\w.-]*\w|[\w-][\w.-]*\.[A-Za-z]\w{0,7}(?![\w/]))",
        "/",
    ),
    (
        EntityKind.PATH,
        0.86,
        rf"(?<![\w@./-])(?![A-Z][a-z]+\.js\b)[\w-][\w.-]*\.{_EXTENSION}(?![\w/])",
        r"\.[a-z]",
    ),
    (EntityKind.CODE, 0.85, r"(?<=`)(?! )[^`\n]{2,80}(?<! )(?=`)", "`"),
    (
        EntityKind.VERSION,
        0.80,
        r"(?<![\w.])(?:v\d+(?:\.\d+)*|\d+(?:\.\d+){2,})(?:-[\w.]+)?(?!\w)",
        _DIGIT,
    ),
    (  # neither a file, a package nor a decorator
        EntityKind.MENTION,
        0.78,
        r"(?<![\w@/.>:])@[A-Za-z][\w-]*(?![\w/-]|\.\w|[`\"'\])]|\s(?:decorator|packages?|annotation))",
        "@",
    ),
    (EntityKind.CODE, 0.72, r"(?<![\w.])\w+(?:\.\w+)*\(\)", r"\(\)"),
    (EntityKind.CODE, 0.70, r"(?<![\w.])[a-z]+(?:[A-Z][a-z0-9]*)+(?!\w)", _HUMP),
    (EntityKind.CODE, 0.70, r"(?<![\w.])(?:[A-Z][a-z0-9]+){2,}(?!\w)", _HUMP),
    (EntityKind.CODE, 0.70, r"(?<![\w.])_*[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?!\w)", "_"),
    (EntityKind.CODE, 0.68, r"(?<![\w-])[A-Z]{1,6}-?\d{3,6}(?!\w)", _DIGIT),
    (EntityKind.CODE, 0.67, rf"(?<![\w-]){_SIGNALS}(?!\w)", "E[A-Z]|SIG"),
    (  # a component's name: what else is written with hyphens is mostly plain words
        EntityKind.CODE,
        0.66,
        r"(?<![\w./#-])[a-z][a-z0-9]*(?:-(?!to-|of-)[a-z0-9]+)*"
        rf"-(?:{_COMPONENTS})(?![\w/-])",
        f"-(?:{_COMPONENTS})",
    ),
    (
        EntityKind.QUOTED,
        0.60,
        r"(?<=[\"“«])[A-Z][\w-]{1,30}(?: [\w-]{1,30}){0,3}(?=[\"”»])",
        '["“«]',
    ),
)
_COMPILED = tuple(
    (kind, sure, re.compile(pattern), hint) for kind, sure, pattern, hint in _PATTERNS
)
_HINTS = tuple((hint, re.compile(hint)) for hint in dict.fromkeys(row[-1] for row in _PATTERNS))
_TRAILING = ".,;:!?"
_WORD: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9]+")
_GOES_ON: Final = re.compile(r"[/.]\w")  # a path or the name of a file
_TOOL_SURE: Final = 0.62  # ours


def find_entities(*, text: str) -> tuple[EntitySpan, ...]:
    """Find the entities of a text in their order; spans never overlap."""
    present = {hint for hint, pattern in _HINTS if pattern.search(text)}
    spans = [
        _span(kind, match, confidence)
        for kind, confidence, pattern, hint in _COMPILED
        if hint in present
        for match in pattern.finditer(text)
    ]
    return resolve_overlaps(spans=(*spans, *_tools(text)))


def resolve_overlaps(*, spans: tuple[EntitySpan, ...]) -> tuple[EntitySpan, ...]:
    """Keep of overlapping spans the most confident, then the longest, then the first."""
    best_first = sorted(
        spans, key=lambda span: (-span.confidence, span.start - span.end, span.start)
    )
    kept: list[EntitySpan] = []
    taken: set[int] = set()
    for span in best_first:
        places = range(span.start, span.end)
        if taken.isdisjoint(places):
            kept.append(span)
            taken.update(places)
    return tuple(sorted(kept, key=lambda span: span.start))


def _tools(text: str) -> Iterator[EntitySpan]:
    """Find the tools that a word of the text names; a word is letters and digits."""
    if WORDS.isdisjoint(_WORD.findall(text.lower())):
        return
    for match in _WORD.finditer(text):
        before = text[match.start() - 1 : match.start()]
        is_part = before in {".", "/", "-"} or _GOES_ON.match(text, match.end())
        if match.group().lower() in WORDS and not is_part:
            yield _span(EntityKind.TOOL, match, _TOOL_SURE)


def _span(kind: EntityKind, match: re.Match[str], confidence: float) -> EntitySpan:
    text = match.group().rstrip(_TRAILING)
    return EntitySpan(
        kind=kind,
        text=text,
        start=match.start(),
        end=match.start() + len(text),
        confidence=confidence,
    )
