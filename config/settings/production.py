"""Servers of one's own and the one-command start: secrets and addresses must be given."""

from config import env
from config.settings.base import *  # noqa: F403
from config.settings.base import ENV

for _name in ("CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER", "DATABASE_URL", "REDIS_URL"):
    if not ENV[_name]:
        raise env.WrongEnvironment(f"{_name} is not set; every installation needs it.")
