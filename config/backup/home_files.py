"""The files of the data folder that a backup takes, and what it does with them when it is restored.

Secrets, credentials and tokens are taken only where the backup is encrypted. Which steps of the
first start are done, and the receipts of dropped organizations, are no secrets and always taken.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from config.embedded.home import write_private

SECRET_FILES: Final = ("secrets.json", "credentials.json", "tokens/*")
PLAIN_FILES: Final = ("run/steps.json", "receipts/*.json")


def read_home(*, home: Path, with_secrets: bool) -> dict[str, str]:
    """Return the texts of the files by their paths in the data folder."""
    patterns = (*PLAIN_FILES, *(SECRET_FILES if with_secrets else ()))
    found = (path for pattern in patterns for path in sorted(home.glob(pattern)))
    return {path.relative_to(home).as_posix(): path.read_text() for path in found if path.is_file()}


def write_home(*, home: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Write those that are missing, of mode 600; return their paths. None leaves the folder."""
    allowed = (*PLAIN_FILES, *SECRET_FILES)
    missing = [
        name
        for name in sorted(files)
        if any(Path(name).match(pattern) for pattern in allowed)
        and ".." not in Path(name).parts
        and not (home / name).exists()
    ]
    for name in missing:
        path = home / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path=path, text=files[name])
    return tuple(missing)
