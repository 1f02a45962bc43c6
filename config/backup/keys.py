"""The operator's secret that encrypts backups, read from a file."""

import os
from argparse import ArgumentParser
from pathlib import Path

from config.backup.places import BackupError
from config.backup.sealing import LEAST_SECRET


def add_key_option(parser: ArgumentParser) -> None:
    """Let a command take the secret."""
    given = os.environ.get("CAIRN_BACKUP_KEY_FILE")
    default = Path(given) if given else None
    words = "file with a passphrase or a key, as text; CAIRN_BACKUP_KEY_FILE where left out"
    parser.add_argument("--key-file", type=Path, default=default, help=words)


def read_secret(*, path: Path | None) -> bytes | None:
    """Return the secret in a file, without white space around it; None for no file.

    Raises BackupError when it cannot be read or is short.
    """
    if path is None:
        return None
    try:
        secret = path.read_text().strip().encode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BackupError(f"The key {path} cannot be read: {reason}.") from error
    if len(secret) < LEAST_SECRET:
        raise BackupError(f"{path} is too short; use {LEAST_SECRET} characters or more.")
    return secret
