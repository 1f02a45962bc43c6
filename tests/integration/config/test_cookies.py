"""What browsers keep of us: closed cookies, and under https only for this host."""

import json
import os
import subprocess
import sys
from typing import Any

from config import env

NAMES = ("SESSION", "CSRF", "LANGUAGE")
ASKED = """
import json
from django.conf import settings
names = [n for n in dir(settings) if n.endswith(("_COOKIE_NAME", "_COOKIE_SECURE",
    "_COOKIE_HTTPONLY", "_COOKIE_PATH", "_COOKIE_DOMAIN")) or n == "SECURE_HSTS_SECONDS"]
print(json.dumps({n: getattr(settings, n) for n in names}))
"""


def _settings(base_url: str) -> dict[str, Any]:
    environment = {
        **os.environ,
        "CAIRN_BASE_URL": base_url,
        "DJANGO_SETTINGS_MODULE": "config.settings.check",
    }
    told = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=environment, cwd=env.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    read: dict[str, Any] = json.loads(told.stdout)
    return read


def test_under_https_cookies_are_of_this_host_and_tls_alone() -> None:
    secure = _settings("https://cairn.example.test")

    for name in NAMES:
        assert secure[f"{name}_COOKIE_NAME"].startswith("__Host-")
        assert secure[f"{name}_COOKIE_SECURE"] is True
        assert secure[f"{name}_COOKIE_HTTPONLY"] is True
        assert secure[f"{name}_COOKIE_PATH"] == "/"
        assert secure[f"{name}_COOKIE_DOMAIN"] is None
    assert secure["SECURE_HSTS_SECONDS"] == 31_536_000


def test_without_tls_cookies_have_plain_names_and_are_closed() -> None:
    plain = _settings("http://127.0.0.1:8000")

    for name in NAMES:
        assert not plain[f"{name}_COOKIE_NAME"].startswith("__")
        assert plain[f"{name}_COOKIE_SECURE"] is False
        assert plain[f"{name}_COOKIE_HTTPONLY"] is True
