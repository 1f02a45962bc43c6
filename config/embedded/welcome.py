"""The owner's way in: the file scripts read, and what is printed for the person."""

import json
from collections.abc import Mapping

from config.embedded.console import Console
from config.embedded.errors import StepError
from config.embedded.home import Home, write_private

NAME = "welcome"  # under which it is kept that the credentials have been shown
FIELDS = ("url", "email", "password", "token", "organization", "project")
PRINTED = (("e-mail", "email"), ("password", "password"), ("token", "token"))


def publish(*, home: Home, url: str) -> dict[str, str]:
    """Write the present address into the credentials file and return its fields.

    Raises StepError when the owner's step left no usable file.
    """
    try:
        kept = json.loads(home.credentials.read_text())
        fields = {name: str(kept[name]) for name in FIELDS if name != "url"}
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise StepError(
            f"{home.credentials} is missing or damaged; delete it and start again: "
            f"the owner then gets a new password and token."
        ) from error
    complete = {"url": url, **fields}
    write_private(path=home.credentials, text=json.dumps(complete, indent=2) + "\n")
    return complete


def show_once(*, console: Console, fields: Mapping[str, str], home: Home) -> None:
    """Print address and credentials, at the first start."""
    console.heading(f"\n  Cairn is ready: {fields['url']}\n")
    for label, name in PRINTED:
        console.heading(f"    {label:<9} {fields[name]}")
    console.heading(f"\n  Shown once; also kept in {home.credentials}. Ctrl-C stops everything.\n")


def show_again(*, console: Console, fields: Mapping[str, str], home: Home) -> None:
    """Print the address, and where the credentials are."""
    console.heading(f"\n  Cairn is ready: {fields['url']}")
    console.heading(f"  Credentials: {home.credentials}. Ctrl-C stops everything.\n")
