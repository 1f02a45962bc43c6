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

DATABASE_SCHEMES = ("postgres", "postgresql", "postgis")
REDIS_SCHEMES = ("redis", "rediss", "unix")
LARGEST_PORT = 65_535
MINIMUM_SECRET_LENGTH = 32  # characters; 160 bits and more in any usual alphabet
ROOT = Path(__file__).resolve().parent.parent


class WrongEnvironment(SystemExit):
    """The environment cannot be used; the message names the variable and the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable: how it is read and what stands when it is absent."""

    name: str
    read: Callable[[str], Any]
    default: Any
    says: str


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
        raise WrongEnvironment(f"{variable.name} is wrong: {error} ({variable.says}).") from error


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


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if _whole(text) == 0:
        raise ValueError("it must be at least 1")
    return int(text)


def _url_of(schemes: tuple[str, ...]) -> Callable[[str], str]:
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


VARIABLES = (
    Variable(name="CAIRN_SECRET_KEY", read=_secret, default="", says="signs sessions and links"),
    Variable(name="CAIRN_TOKEN_PEPPER", read=_secret, default="", says="keys API token digests"),
    Variable(
        name="CAIRN_SECRET_KEY_FALLBACKS", read=_secrets, default=(), says="earlier keys, by commas"
    ),
    Variable(
        name="CAIRN_TOKEN_PEPPER_FALLBACKS",
        read=_secrets,
        default=(),
        says="earlier peppers, by commas",
    ),
    Variable(
        name="DATABASE_URL", read=_url_of(DATABASE_SCHEMES), default="", says="PostgreSQL 16+"
    ),
    Variable(
        name="DATABASE_OWNER_URL",
        read=_url_of(DATABASE_SCHEMES),
        default="",
        says="the same database as the owner of the tables",
    ),
    Variable(name="REDIS_URL", read=_url_of(REDIS_SCHEMES), default="", says="Redis 7 or Valkey"),
    Variable(name="CAIRN_HOME", read=Path, default=ROOT / "var", says="the data folder"),
    Variable(name="CAIRN_HOST", read=str, default="127.0.0.1", says="address to listen on"),
    Variable(name="CAIRN_PORT", read=_port, default=8000, says="port of the web server"),
    Variable(
        name="CAIRN_BASE_URL",
        read=_url_of(("http", "https")),
        default="http://127.0.0.1:8000",
        says="where people and agents reach it",
    ),
    Variable(name="CAIRN_ALLOWED_HOSTS", read=_words, default=(), says="host names, by commas"),
    Variable(name="CAIRN_DEMO", read=_boolean, default=True, says="load the demo at first start"),
    Variable(name="CAIRN_MODELS", read=Path, default=ROOT / "var" / "models", says="model weights"),
    Variable(name="CAIRN_MODELS_FROM", read=Path, default=None, says="folder with model weights"),
    Variable(
        name="CAIRN_EMBEDDER",
        read=str,
        default="local/all-minilm-l6-v2",
        says="key of the embedding model",
    ),
    Variable(
        name="CAIRN_RERANKER",
        read=str,
        default="static/maxsim",
        says="key of the reranking model, for searches that ask for one",
    ),
    Variable(name="CAIRN_EMBEDDER_THREADS", read=_whole, default=1, says="of the local embedder"),
    Variable(name="CAIRN_EMBED_INLINE", read=_boolean, default=True, says="embed in the request"),
    Variable(name="CAIRN_KEEP_ACTIONS_DAYS", read=_positive, default=90, says="of the action log"),
    Variable(
        name="CAIRN_KEEP_TURNS_DAYS", read=_positive, default=30, says="of sessions that ended"
    ),
    Variable(name="CAIRN_OPENAI_BASE_URL", read=_url_of(("http", "https")), default="", says="API"),
    Variable(name="CAIRN_OPENAI_API_KEY", read=str, default="", says="key of that API"),
    Variable(name="CAIRN_OPENAI_EMBEDDING_MODEL", read=str, default="", says="its embedding model"),
    Variable(
        name="CAIRN_OPENAI_CHAT_MODEL",
        read=str,
        default="",
        says="its chat model, for `hyde` searches and extraction",
    ),
    Variable(
        name="CAIRN_MODEL_TOKENS_PER_MONTH",
        read=_whole,
        default=5_000_000,
        says="that extraction may use in an organization and month; 0: no bound",
    ),
    Variable(
        name="CAIRN_MODEL_PRICES",
        read=_prices,
        default={},
        says="of a million tokens in and out, as openai/NAME=0.15:0.6, by commas",
    ),
    Variable(name="CAIRN_OPENAI_DIMENSIONS", read=_whole, default=1024, says="of its vectors"),
    Variable(name="CAIRN_COHERE_API_KEY", read=str, default="", says="key of Cohere"),
    Variable(name="CAIRN_COHERE_BASE_URL", read=_url_of(("http", "https")), default="", says="API"),
    Variable(name="CAIRN_EMAIL_HOST", read=str, default="", says="SMTP server; none prints mails"),
    Variable(name="CAIRN_EMAIL_PORT", read=_port, default=587, says="its port"),
    Variable(name="CAIRN_EMAIL_USER", read=str, default="", says="its user"),
    Variable(name="CAIRN_EMAIL_PASSWORD", read=str, default="", says="its password"),
    Variable(name="CAIRN_EMAIL_FROM", read=str, default="cairn@localhost", says="sender of mails"),
    Variable(name="CAIRN_TRUSTED_PROXIES", read=_whole, default=0, says="proxies in front"),
    Variable(name="CAIRN_WORKERS", read=_whole, default=2, says="processes of the worker"),
    Variable(name="CAIRN_JOB_SECONDS", read=_positive, default=900, says="longest run of a job"),
    Variable(name="CAIRN_JOB_MEMORY_MB", read=_positive, default=2048, says="most memory of a job"),
    Variable(name="CAIRN_PG_BIN_DIR", read=Path, default=None, says="other Postgres binaries"),
    Variable(name="CAIRN_PG_AS_USER", read=str, default="", says="user of embedded Postgres"),
    Variable(name="CAIRN_PG_SHARED_BUFFERS", read=str, default="128MB", says="its memory"),
    Variable(name="CAIRN_TOKEN", read=str, default="", says="of agents here; not read by us"),
    Variable(name="CAIRN_CHROMIUM", read=Path, default=None, says="browser of the tests"),
    Variable(name="CAIRN_PGBOUNCER", read=Path, default=None, says="connection pool of the tests"),
    Variable(name="CAIRN_TEST_SERVERS", read=str, default="", says="used by the tests"),
    Variable(name="CAIRN_SCALE", read=str, default="", says="long: tests measure at full length"),
)
