"""What one start is made of, read from the environment before anything runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config import env
from config.embedded import ports
from config.embedded.home import Secrets

SETTINGS_MODULE = "config.settings.embedded"
OWNERS_ALONE = "DATABASE_OWNER_URL"  # for what makes tables, never for what serves


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The settings the supervisor itself needs."""

    home: Path
    host: str
    port: int
    base_url: str
    models: Path
    workers: int
    with_demo: bool
    database_url: str
    redis_url: str
    database_owner_url: str = ""


def read(*, environment: Mapping[str, str]) -> Setup:
    """Read and check the environment; raises env.WrongEnvironment naming a wrong variable."""
    values = env.read(environment)
    home = values["CAIRN_HOME"].absolute()
    host, port = values["CAIRN_HOST"], values["CAIRN_PORT"]
    own_url = environment.get("CAIRN_BASE_URL") or ports.base_url(host=host, port=port)
    return Setup(
        home=home,
        host=host,
        port=port,
        base_url=own_url.rstrip("/"),
        models=values["CAIRN_MODELS"] if environment.get("CAIRN_MODELS") else home / "models",
        workers=values["CAIRN_WORKERS"],
        with_demo=values["CAIRN_DEMO"],
        database_url=values["DATABASE_URL"],
        redis_url=values["REDIS_URL"],
        database_owner_url=values["DATABASE_OWNER_URL"],
    )


def given_to_children(
    *, setup: Setup, secrets: Secrets, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return what the steps are told beyond the caller's environment."""
    return {
        "DJANGO_SETTINGS_MODULE": SETTINGS_MODULE,
        "DATABASE_URL": setup.database_url,
        OWNERS_ALONE: setup.database_owner_url,
        "REDIS_URL": setup.redis_url,
        "CAIRN_HOME": str(setup.home),
        "CAIRN_PORT": str(setup.port),
        "CAIRN_HOST": setup.host,
        "CAIRN_BASE_URL": setup.base_url,
        "CAIRN_MODELS": str(setup.models),
        "CAIRN_SECRET_KEY": environment.get("CAIRN_SECRET_KEY") or secrets.secret_key,
        "CAIRN_TOKEN_PEPPER": environment.get("CAIRN_TOKEN_PEPPER") or secrets.token_pepper,
        "PYTHONUNBUFFERED": "1",
    }


def without_owner(*, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what web, worker and beat are told: everything but how to become the owner."""
    return {name: value for name, value in environment.items() if name != OWNERS_ALONE}
