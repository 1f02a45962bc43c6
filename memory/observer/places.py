"""Paths as a session sees them: relative to its repository, or outside of it (spec 4.3).

Agents name files absolutely or relatively, with either slash. One file must have one name, or no
two sessions ever agree on it. An absolute path without a known root counts as outside: that is the
safe side for trust.
"""

import re
from typing import Final

MODULE_DEPTH: Final = 2  # folders that name a module, ours
_DRIVE: Final = re.compile(r"\A[A-Za-z]:/")
_CONFIG_NAMES: Final = frozenset({
    "package.json", "pyproject.toml", "setup.cfg", "setup.py", "tsconfig.json", "cargo.toml",
    "go.mod", "pom.xml", "makefile", "dockerfile", "compose.yaml", "docker-compose.yml",
    "requirements.txt", "gemfile", "tox.ini", "pytest.ini", "settings.py", "webpack.config.js",
    "vite.config.ts", "vite.config.js", "jest.config.js", "eslint.config.js", ".eslintrc",
    ".eslintrc.json", ".prettierrc", ".babelrc", ".env", ".env.example", "nginx.conf",
    "tailwind.config.js", "next.config.js", "alembic.ini", "conftest.py", "babel.config.js",
})  # fmt: skip
_CONFIG_FOLDERS: Final = ("config/", ".github/workflows/", "deploy/", "k8s/", ".circleci/")
_CONFIG_ENDS: Final = (".toml", ".ini", ".cfg", ".yaml", ".yml", ".env", ".conf", ".properties")
_TEST: Final = re.compile(
    r"(?:\A|/)(?:tests?|specs?|__tests__)/|(?:_test|\.test|\.spec|_spec)\.\w+\Z"
    r"|(?:\A|/)test_[^/]*\Z"
)


def relative(*, path: str, root: str) -> str:
    """Return a path below the root with its name from there; any other as it is, with slashes."""
    clean = _resolved(_slashes(path))
    base = _slashes(root).rstrip("/")
    if base and clean.startswith(f"{base}/"):
        return clean[len(base) + 1 :]
    return clean


def is_outside(*, path: str) -> bool:
    """Say whether a path, after `relative`, leaves the repository."""
    return path.startswith(("/", "~", "../")) or path == ".." or _DRIVE.match(path) is not None


def module(*, path: str) -> str:
    """Return the first folders of a file, which stand for its module; empty at the top."""
    return "/".join(path.split("/")[:-1][:MODULE_DEPTH])


def is_config(*, path: str) -> bool:
    """Say whether a file configures: by name, by folder and ending."""
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    if name in _CONFIG_NAMES:
        return True
    in_folder = any(f"/{folder}" in f"/{lowered}" for folder in _CONFIG_FOLDERS)
    return in_folder and lowered.endswith(_CONFIG_ENDS)


def is_test(*, path: str) -> bool:
    """Say whether a file holds tests, by its name or its folder."""
    return _TEST.search(path.lower()) is not None


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if "\\" in path else path


def _resolved(path: str) -> str:
    """Take out `./`, doubled slashes and `a/../`; what leaves the start keeps its `../`."""
    if "./" not in path and "//" not in path and not path.endswith("/.."):
        return path
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] not in {"..", ""}:
            kept.pop()
        elif part not in {".", ""} or (part == "" and not kept):
            kept.append(part)
    return "/".join(kept)
