"""The operator's secret that encrypts backups, read from a file."""

from argparse import ArgumentParser
from pathlib import Path

from config.backup.places import BackupError
from config.backup.sealing import LEAST_SECRET


def add_key_option(parser: ArgumentParser) -> None:
    """Let a command take the secret."""
    parser.add_argument("--key-file", type=Path, help="file with a passphrase or a key, as text")


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
