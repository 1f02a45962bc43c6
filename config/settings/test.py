"""Tests: real Postgres and Redis, mails kept in memory, fast password hashes."""

from tests.support import servers

servers.start()  # before the settings below read their addresses

from config.settings.check import *  # noqa: E402,F403

STATIC_ROOT = None  # nothing is collected; files are found where they are
SENDS_MAIL = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CAIRN_PROVIDERS = {**CAIRN_PROVIDERS, "embedder": "hashing/words-384"}  # noqa: F405
HOOK_SECONDS = 120.0  # a busy machine is not late; what late means has its own tests
