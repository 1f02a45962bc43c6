"""What tells agents' programs to run our script, from the files of the plugin.

The programs run one script, below one's home, that reads address and token from where `cairn login`
keeps them: so no hook holds a secret, and a new login needs no new hook. The text of a hook stays
the same across versions, since some programs ask anew about each that has changed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .edits import Entries, Whole
from .errors import ClientError

FOLDER: Final = ".cairn/plugin"  # below one's home
SCRIPT: Final = f"{FOLDER}/bin/hook.sh"
_MARK: Final = SCRIPT  # stands in every command that runs it
_SCRIPT_MARK: Final = "# Tell Cairn what an agent does"
_ROOTS: Final = ("${CLAUDE_PLUGIN_ROOT}", "${CURSOR_PLUGIN_ROOT}", "${PLUGIN_ROOT}")
_BESIDE: Final = Path(__file__).parent / "plugin"  # as installed
_CHECKOUT: Final = Path(__file__).parents[2] / "deploy" / "plugin"


def script() -> Whole:
    """Return the script itself, a file of ours."""
    return Whole(content=_text("bin/hook.sh"), mark=_SCRIPT_MARK)


def entries(*, file: str) -> Entries:
    """Return the hooks that a file of the plugin names, as entries of a program's own file."""
    told = _told(file)
    hooks = {event: tuple(groups) for event, groups in told["hooks"].items()}
    head = {"version": told["version"]} if "version" in told else {}
    return Entries(name="hooks", lists=hooks, mark=_MARK, head=head)


def whole(*, file: str) -> Whole:
    """Return a file of the plugin, for a program that reads a file of ours."""
    return Whole(content=json.dumps(_told(file), indent=2) + "\n", mark=_MARK)


def _told(file: str) -> Mapping[str, Any]:
    text = _text(f"hooks/{file}")
    for root in _ROOTS:
        text = text.replace(root, f"$HOME/{FOLDER}")
    return dict(json.loads(text))


def _text(name: str) -> str:
    for folder in (_BESIDE, _CHECKOUT):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise ClientError(
        detail=f"{name} of the plugin is not where this program is.",
        hint="Install it anew.",
        command="uv tool install --reinstall ./deploy/client",
    )
