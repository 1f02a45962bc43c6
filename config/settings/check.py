"""For type checks and builds: no secrets, no servers, nothing connects."""

from config.settings.base import *  # noqa: F403

SECRET_KEY = "only for checks, never for a running server"  # noqa: S105
TOKEN_PEPPER = "only for checks, never for a running server"  # noqa: S105
