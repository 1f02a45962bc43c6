"""Paths as a session sees them: relative to its repository, or outside of it.

Agents name files absolutely or relatively, with either slash. One file must have one name, or no
two sessions ever agree on it. An absolute path without a known root counts as outside: that is the
safe side for trust.
"""

import re
from pathlib import Path
from typing import Final

from memory.client import code_files
from memory.text.text import read_words

MODULE_DEPTH: Final = 2  # folders that name a module; default, not measured
_UNRESOLVED: Final = re.compile(r"\./|//|/\.\.\Z")
_DRIVE: Final = re.compile(r"\A[A-Za-z]:/")
_HOME: Final = re.compile(r"\A(?:/(?:home|Users)/[^/]+|/root)(?=/|\Z)")
_CONFIG_NAMES: Final = read_words(file=Path(__file__).with_name("tables") / "configuration.txt")
_CONFIG_FOLDERS: Final = ("config/", ".github/workflows/", "deploy/", "k8s/", ".circleci/")
_CONFIG_ENDS: Final = (".toml", ".ini", ".cfg", ".yaml", ".yml", ".env", ".conf", ".properties")
_SETTING: Final = re.compile(  # beside what configures: files that settings are added to
    r"(?:\A|/)config/[\w.-]+\.(?:exs|rb|php|js)\Z|(?:\A|/)\.(?:github|husky)/|(?:\A|/)\.?[\w-]+(?:rc|ignore)\Z"
    r"|(?:\A|/)[\w-]+\.config\.\w+\Z|(?:\A|/)mix\.exs\Z|\.(?:toml|ini|cfg|ya?ml|conf)\Z"
)
_TEST: Final = re.compile(
    r"(?:\A|/)(?:tests?|specs?|__tests__)/|(?:_test|\.test|\.spec|_spec)\.\w+\Z"
    r"|(?:\A|/)test_[^/]*\Z"
)


def relative(*, path: str, root: str, folder: str = "") -> str:
    """Return a path below the root with its name from there; any other as it is, with slashes.

    `folder` is where somebody works who names it; they begin at the root where it is not said.
    """
    base = _slashes(root).rstrip("/")
    named = _slashes(path)
    where = _slashes(folder).rstrip("/")
    if base and where != base and where.startswith(("/", f"{base}/")) and _is_relative(named):
        named = f"{where}/{named}"
    clean = _resolved(named)
    home = _HOME.match(base) if clean.startswith("~/") else None
    whole = clean if home is None else _resolved(f"{home.group()}{clean[1:]}")
    if base and f"{whole}/".startswith(f"{base}/"):
        return whole[len(base) + 1 :] or "."
    return clean


def working_folder(*, root: str, folder: str) -> tuple[str, str]:
    """Return the repository and the folder in it where somebody works, the first alone if the same.

    A repository that the folder does not lie in is not believed: names of one place differ, and
    paths would lead out of it. Then the folder stands for it.
    """
    base, where = _slashes(root).rstrip("/"), _slashes(folder).rstrip("/")
    if not base or base == where:
        return folder or root, ""
    if not where:
        return root, ""
    return (root, folder) if where.startswith(f"{base}/") else (folder, "")


def is_outside(*, path: str) -> bool:
    """Say whether a path, after `relative`, leaves the repository."""
    return path.startswith(("/", "~", "../")) or path == ".." or _DRIVE.match(path) is not None


def is_drive(*, path: str) -> bool:
    """Say whether a path begins with the letter of a drive."""
    return _DRIVE.match(_slashes(path)) is not None


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


def is_setting(*, path: str) -> bool:
    """Say whether a file holds settings, and no tests of them."""
    is_named = is_config(path=path) or _SETTING.search(path) is not None
    return is_named and not is_test(path=path)


def holds_secrets(*, path: str) -> bool:
    """Say whether a file is made to hold secrets, by its name."""
    return code_files.SECRET.fullmatch(_slashes(path).lower().rpartition("/")[2]) is not None


def is_test(*, path: str) -> bool:
    """Say whether a file holds tests, by its name or its folder."""
    return _TEST.search(path.lower()) is not None


def _is_relative(path: str) -> bool:
    return bool(path) and not path.startswith(("/", "~", "$")) and not is_drive(path=path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if "\\" in path else path


def _resolved(path: str) -> str:
    """Take out `./`, doubled slashes and `a/../`; what leaves the start keeps its `../`."""
    if _UNRESOLVED.search(path) is None:
        return path
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] not in {"..", ""}:
            kept.pop()
        elif part not in {".", ""} or (part == "" and not kept):
            kept.append(part)
    return "/".join(kept)
