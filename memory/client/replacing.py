"""Whether a manifest belongs to the index that it would replace.

A manifest is whole: what it does not name is gone, and what it names is seen by all of a project.
So one of another repository is not sent without being asked for.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from . import code_files
from .code_files import Found
from .errors import ClientError, Misused
from .terminal import Desk

if TYPE_CHECKING:
    from .api import Client

NAMED: Final = 3  # files that a refusal names
_COMMAND: Final = "cairn index --replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What of an index is not in a manifest: how many files of how many, the first of them."""

    gone: int
    known: int
    first: tuple[str, ...]


def check(*, desk: Desk, client: "Client", project: str, found: Found) -> None:
    """Go on where the files are those of the project's index, or somebody says so.

    Raises Misused where nobody can be asked, ClientError for a no.
    """
    total = int(client.code_index(project=project)["files_total"])
    if not total:
        return
    loss = loss_of(known=client.code_files(project=project), total=total, found=found)
    if loss is None:
        return
    detail = _told(project, found.root, loss)
    if not (sys.stdin.isatty() and desk.is_watched()):
        raise Misused(
            detail=detail,
            hint="Is this the folder of that project? Name the right one with --project, or say "
            "--replace.",
            command=_COMMAND,
        )
    if not typer.confirm(f"{detail} Replace it?", err=True):
        raise ClientError(detail="Nothing was sent.", command=_COMMAND)


def loss_of(*, known: Iterable[str], total: int, found: Found) -> Loss | None:
    """Return what would go; nothing where so few files are no sign of another repository.

    Half of what is known must be here, and of a part of a repository nothing else may be known.
    """
    here = frozenset(file.path for file in found.files)
    gone: list[str] = []
    count = 0
    for count, path in enumerate(filter(_is_code, known), start=1):
        if path not in here:
            gone.append(path)
        elif not found.part and (count - len(gone)) * 2 >= total:
            return None
    foreign = [path for path in gone if not path.startswith(found.part)] if found.part else []
    if not foreign and (count - len(gone)) * 2 >= count:
        return None
    return Loss(gone=len(gone), known=count, first=tuple((foreign or gone)[:NAMED]))


def _is_code(path: str) -> bool:
    return code_files.is_code(
        path=path
    )  # of others an older program has told, and none is sent now


def _told(project: str, folder: Path, loss: Loss) -> str:
    first = ", ".join(loss.first)
    return (
        f"The index of {project} would lose {loss.gone:,} of its {loss.known:,} files, and be "
        f"given those of {folder}: {first}{', …' if loss.gone > len(loss.first) else ''} would go."
    )
