"""Check a diff before it is shared: which changed places meet what the project knows (11.8)."""

from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import Final

from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.checks import diffs, parts
from memory.checks.actions import run
from memory.checks.actions.run import Ahead, Check
from memory.checks.diffs import ChangedFile, Hunk
from memory.search.actions import SECRET_LEFT_OUT
from memory.secrets.event_masking import BEYOND
from memory.text.text import check_text

LONGEST_DIFF: Final = 1_000_000  # characters, ours; a body is 1 MiB
PARTS_MOST: Final = 500  # changed places that are looked at, ours
NOT_ALL_PARTS: Final = "not_all_parts"


def check_diff(*, caller: Caller, project: str, diff: str, now: datetime) -> Check:
    """Hold the changed places of a diff against what is known.

    Raises InvalidInput for what is no unified diff, NotFound for a project the caller cannot see.
    """
    _check(diff)
    files, is_whole = _within(diffs.read(text=diff))
    clean, had_secrets = _without_secrets(files)
    degraded = (
        *((SECRET_LEFT_OUT,) if had_secrets else ()),
        *(() if is_whole else (NOT_ALL_PARTS,)),
    )
    ahead = tuple(_ahead(file) for file in clean)
    return run.hold(caller=caller, project=project, ahead=ahead, degraded=degraded, now=now)


def _within(files: tuple[ChangedFile, ...]) -> tuple[tuple[ChangedFile, ...], bool]:
    """Return files with the first places that are looked at, and whether those are all of them."""
    kept: list[ChangedFile] = []
    room = PARTS_MOST
    for file in files:
        kept.append(replace(file, hunks=file.hunks[:room]))
        room = max(0, room - len(file.hunks))
    return tuple(kept), sum(len(file.hunks) for file in files) <= PARTS_MOST


def _without_secrets(files: tuple[ChangedFile, ...]) -> tuple[tuple[ChangedFile, ...], bool]:
    """Return files without what looks like a secret in their lines, and whether there was any."""
    had_secrets = False
    clean: list[ChangedFile] = []
    for file in files:
        hunks: list[Hunk] = []
        for hunk in file.hunks:
            added, is_in_added = _clean(hunk.added)
            removed, is_in_removed = _clean(hunk.removed)
            hunks.append(replace(hunk, added=added, removed=removed))
            had_secrets = had_secrets or is_in_added or is_in_removed
        clean.append(replace(file, hunks=tuple(hunks)))
    return tuple(clean), had_secrets


def _clean(lines: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return lines without secrets: whole ones are looked through, and more than is looked at."""
    before = accumulate((len(line[: parts.LINE_MOST]) + 1 for line in lines), initial=0)
    room = parts.ADDED_MOST + BEYOND
    near = tuple(line for line, length in zip(lines, before, strict=False) if length < room)
    text, had_secrets = run.without_secrets(text="\n".join(near))
    return (tuple(text.split("\n")), True) if had_secrets else (near, False)


def _ahead(file: ChangedFile) -> Ahead:
    """Return a file as work ahead."""
    made = parts.of_file(file=file)
    lines = "\n".join(part.text for part in made)[: parts.ADDED_MOST]
    return Ahead(parts=made, question=parts.question(files=made[0].files, text=lines))


def _check(diff: str) -> None:
    if len(diff) > LONGEST_DIFF:
        raise wrong_field(
            pointer="/diff",
            detail=message("Use at most {most} characters.", most=LONGEST_DIFF),
            hint="Send it in parts, and leave out what is generated.",
            code="length",
        )
    if check_text(text=diff):
        raise wrong_field(pointer="/diff", detail="Leave out unstorable characters.", code="text")
