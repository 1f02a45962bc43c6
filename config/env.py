"""Typed reads of the environment: every variable Cairn knows, with its type and default.

Called once by the settings, before anything starts. A variable with a wrong value, or one whose
name starts with CAIRN_ and is not known, stops the start with its name and what would be right,
because a misspelled setting that is silently ignored is found in production.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LARGEST_PORT = 65_535
LAST_HOUR = 23
MINIMUM_SECRET_LENGTH = 32  # characters; 160 bits and more in any usual alphabet
ROOT = Path(__file__).resolve().parent.parent


class WrongEnvironment(SystemExit):
    """The environment cannot be used; the message names the variable and the way out."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: how it is read and what stands when it is absent."""

    name: str
    read: Callable[[str], Any]
    default: Any
    description: str


def read(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read all known variables.

    Returns a value per variable name. Raises WrongEnvironment naming the first wrong one.
    """
    source = os.environ if environ is None else environ
    known = {variable.name for variable in VARIABLES}
    unknown = sorted(name for name in source if name.startswith("CAIRN_") and name not in known)
    if unknown:
        raise WrongEnvironment(f"{unknown[0]} is not a setting of Cairn; see /docs/ for the list.")
    return {variable.name: _value(variable, source) for variable in VARIABLES}


def _value(variable: Variable, source: Mapping[str, str]) -> Any:
    text = source.get(variable.name, "")
    if text == "":
        return variable.default
    try:
        return variable.read(text)
    except ValueError as error:
        raise WrongEnvironment(
            f"{variable.name} is wrong: {error} ({variable.description})."
        ) from error


def _boolean(text: str) -> bool:
    if text.lower() in {"1", "true", "yes", "on"}:
        return True
    if text.lower() in {"0", "false", "no", "off"}:
        return False
    raise ValueError(f"{text!r} is neither 1 nor 0")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_PORT:
        raise ValueError(f"{text!r} is not a port between 1 and {LARGEST_PORT}")
    return int(text)


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _hour(text: str) -> int:
    if _whole_number(text) > LAST_HOUR:
        raise ValueError(f"it must be an hour from 0 to {LAST_HOUR}")
    return int(text)


def _one_of(*words: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is none of {', '.join(words)}")
        return text

    return check


def _positive(text: str) -> int:
    if _whole_number(text) == 0:
        raise ValueError("it must be at least 1")
    return int(text)


def _url_of(*schemes: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if urlsplit(text).scheme not in schemes:
            raise ValueError(f"the address must start with one of {', '.join(schemes)}")
        return text

    return check


def _secret(text: str) -> str:
    if len(text) < MINIMUM_SECRET_LENGTH:
        raise ValueError(f"it has fewer than {MINIMUM_SECRET_LENGTH} characters")
    return text


def _secrets(text: str) -> tuple[str, ...]:
    return tuple(_secret(part) for part in _words(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _prices(text: str) -> dict[str, tuple[Decimal, Decimal]]:
    found: dict[str, tuple[Decimal, Decimal]] = {}
    for word in _words(text):
        model, _, both = word.rpartition("=")
        first, _, last = both.partition(":")
        try:
            found[model] = (Decimal(first), Decimal(last))
        except InvalidOperation as error:
            raise ValueError(f"{word!r} is no model with two prices") from error
        if not model or not all(price.is_finite() and price >= 0 for price in found[model]):
            raise ValueError(f"{word!r} is no model with two prices")
    return found


_database = _url_of("postgres", "postgresql", "postgis")
_web = _url_of("http", "https")
VARIABLES = (
    Variable("CAIRN_SECRET_KEY", _secret, "", "signs cookies and links"),
    Variable("CAIRN_TOKEN_PEPPER", _secret, "", "keys API token digests"),
    Variable("CAIRN_SECRET_KEY_FALLBACKS", _secrets, (), "earlier keys, by commas"),
    Variable("CAIRN_TOKEN_PEPPER_FALLBACKS", _secrets, (), "earlier peppers, by commas"),
    Variable("DATABASE_URL", _database, "", "PostgreSQL 16+"),
    Variable("DATABASE_OWNER_URL", _database, "", "the same database as the owner of the tables"),
    Variable("REDIS_URL", _url_of("redis", "rediss", "unix"), "", "Redis 7 or Valkey"),
    Variable("CAIRN_HOME", Path, ROOT / "var", "the data folder"),
    Variable("CAIRN_HOST", str, "127.0.0.1", "address to listen on"),
    Variable("CAIRN_PORT", _port, 8000, "port of the web server"),
    Variable("CAIRN_BASE_URL", _web, "http://127.0.0.1:8000", "where people and agents reach it"),
    Variable("CAIRN_ALLOWED_HOSTS", _words, (), "host names, by commas"),
    Variable("CAIRN_DEMO", _boolean, True, "load the demo at first start"),
    Variable("CAIRN_MODELS", Path, ROOT / "var" / "models", "model weights"),
    Variable("CAIRN_MODELS_FROM", Path, None, "folder with model weights"),
    Variable("CAIRN_EMBEDDER", str, "local/all-minilm-l6-v2", "key of the embedding model"),
    Variable("CAIRN_RERANKER", str, "static/maxsim", "reranking model, where one is asked for"),
    Variable("CAIRN_EMBEDDER_THREADS", _whole_number, 1, "of the local embedder"),
    Variable("CAIRN_EMBED_INLINE", _boolean, True, "embed in the request"),
    Variable("CAIRN_KEEP_ACTIONS_DAYS", _positive, 90, "of the action log"),
    Variable("CAIRN_KEEP_TURNS_DAYS", _positive, 30, "of sessions that ended"),
    Variable("CAIRN_OPENAI_BASE_URL", _web, "", "API"),
    Variable("CAIRN_OPENAI_API_KEY", str, "", "key of that API"),
    Variable("CAIRN_OPENAI_EMBEDDING_MODEL", str, "", "its embedding model"),
    Variable("CAIRN_OPENAI_CHAT_MODEL", str, "", "its chat model, for extraction"),
    Variable(
        "CAIRN_MODEL_TOKENS_PER_MONTH", _whole_number, 5_000_000, "for extraction; 0: no bound"
    ),
    Variable(
        "CAIRN_MODEL_PRICES",
        _prices,
        {},
        "of a million tokens in and out, as openai/NAME=0.15:0.6, by commas",
    ),
    Variable("CAIRN_OPENAI_DIMENSIONS", _whole_number, 1024, "of its vectors"),
    Variable("CAIRN_COHERE_API_KEY", str, "", "key of Cohere"),
    Variable("CAIRN_COHERE_BASE_URL", _web, "", "API"),
    Variable("CAIRN_EMAIL_HOST", str, "", "SMTP server; none sends none"),
    Variable("CAIRN_EMAIL_PORT", _port, 587, "its port"),
    Variable("CAIRN_EMAIL_USER", str, "", "its user"),
    Variable("CAIRN_EMAIL_PASSWORD", str, "", "its password"),
    Variable("CAIRN_EMAIL_FROM", str, "cairn@localhost", "sender of mails"),
    Variable("CAIRN_TRUSTED_PROXIES", _whole_number, 0, "proxies in front"),
    Variable("CAIRN_WEB_PROCESSES", _positive, None, "web processes"),
    Variable("CAIRN_REQUESTS_AT_WORK", _positive, 8, "of an organization at once"),
    Variable("CAIRN_REQUESTS_WAITING", _positive, 64, "of an organization that wait"),
    Variable("CAIRN_WORKERS", _whole_number, 2, "processes of the worker"),
    Variable("CAIRN_JOB_SECONDS", _positive, 900, "longest run of a job"),
    Variable("CAIRN_JOB_MEMORY_MB", _positive, 2048, "most memory of a job"),
    Variable("CAIRN_LOG_FORMAT", _one_of("line", "json"), "line", "of logs"),
    Variable("CAIRN_METRICS_TOKEN", _secret, "", "who sends it may read /metrics"),
    Variable("CAIRN_METRICS_ORGANIZATIONS", _boolean, False, "count memories of each there"),
    Variable("CAIRN_METRICS_PORT", _port, None, "port of a worker's own metrics"),
    Variable("CAIRN_BACKUP_TO", str, "", "folder or bucket of nightly backups"),
    Variable("CAIRN_BACKUP_HOUR", _hour, 2, "of nightly backups, UTC"),
    Variable("CAIRN_BACKUP_KEEP", _positive, 14, "nightly backups that stay"),
    Variable("CAIRN_BACKUP_KEY_FILE", Path, None, "key that encrypts backups"),
    Variable("CAIRN_PG_BIN_DIR", Path, None, "other Postgres binaries"),
    Variable("CAIRN_PG_AS_USER", str, "", "user of embedded Postgres"),
    Variable("CAIRN_PG_SHARED_BUFFERS", str, "128MB", "its memory"),
    Variable("CAIRN_TOKEN", str, "", "of agents here; not read by us"),
    Variable("CAIRN_CHROMIUM", Path, None, "browser of the tests"),
    Variable("CAIRN_PGBOUNCER", Path, None, "connection pool of the tests"),
    Variable("CAIRN_TEST_SERVERS", str, "", "used by the tests"),
    Variable("CAIRN_SCALE", str, "", "long: tests measure at full length"),
)
