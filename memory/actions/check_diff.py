"""Check a diff before it is shared: which changed places meet what the project knows (11.8)."""

from datetime import datetime
from typing import Final

from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.sentences import sentence
from memory.actions import holding
from memory.actions.holding import Ahead, Check
from memory.actions.search import SECRET_LEFT_OUT
from memory.checks import diffs, parts
from memory.checks.diffs import ChangedFile
from memory.intake.text import check_text

LONGEST_DIFF: Final = 1_000_000  # characters, ours; a body is 1 MiB


def check_diff(*, caller: Caller, project: str, diff: str, now: datetime) -> Check:
    """Hold the changed places of a diff against what is known.

    Raises InvalidInput for what is no unified diff, NotFound for a project the caller cannot see.
    """
    _check(diff)
    read = tuple(_ahead(file) for file in diffs.read(text=diff))
    degraded = (SECRET_LEFT_OUT,) if any(had for _, had in read) else ()
    ahead = tuple(one for one, _ in read)
    return holding.hold(caller=caller, project=project, ahead=ahead, degraded=degraded, now=now)


def _ahead(file: ChangedFile) -> tuple[Ahead, bool]:
    """Return a file as work ahead; its lines are looked through before words are taken of them."""
    made = parts.of_file(file=file)
    lines = "\n".join(part.text for part in made)[: parts.ADDED_MOST]
    clean, had_secrets = holding.without_secrets(text=lines)
    return Ahead(parts=made, question=parts.question(files=made[0].files, text=clean)), had_secrets


def _check(diff: str) -> None:
    if len(diff) > LONGEST_DIFF:
        raise wrong_field(
            pointer="/diff",
            detail=sentence("Use at most {most} characters.", most=LONGEST_DIFF),
            hint="Send it in parts, and leave out what is generated.",
            code="length",
        )
    if check_text(text=diff):
        raise wrong_field(pointer="/diff", detail="Leave out unstorable characters.", code="text")
