"""Receipts of dropped organizations: what was erased, when, by whom, and who was in it.

They lie in the data folder, hold ids and counts, and go into every backup. A restore of a backup
that is older than a receipt leaves that organization out. Should it be wanted all the same, members
and tokens come back only as the receipt knows them, so nobody has more rights than at the end. Then
the receipt is deleted, since what it says is no longer so.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from config.backup.access import Access
from config.embedded.home import write_private

FOLDER = "receipts"


class Receipt(BaseModel):
    """An organization that was dropped: its rows, the last of its audit log, members, tokens."""

    model_config = ConfigDict(frozen=True)
    organization_id: UUID
    slug: str
    dropped_at: datetime
    dropped_by: str
    rows: dict[str, int]
    audit_count: int
    audit_hash: str
    members: dict[UUID, str]  # role by person
    tokens: tuple[UUID, ...]  # the ones that were not revoked
    access: Access = Access()  # left out: every project closed, and nobody in a project or team


def write_receipt(*, home: Path, receipt: Receipt) -> Path:
    """Keep a receipt; return its path."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{receipt.slug}-{receipt.dropped_at:%Y%m%dT%H%M%SZ}.json"
    write_private(path=path, text=receipt.model_dump_json(indent=1))
    return path


def later_receipts(*, home: Path, than: datetime) -> dict[UUID, Receipt]:
    """Return the newest receipt of each organization that was dropped after a time."""
    found = sorted((one for _, one in _receipts(home)), key=lambda one: one.dropped_at)
    return {receipt.organization_id: receipt for receipt in found if receipt.dropped_at > than}


def delete_receipts(*, home: Path, organization_id: UUID) -> None:
    """Delete the receipts of an organization that exists again."""
    for path, receipt in _receipts(home):
        if receipt.organization_id == organization_id:
            path.unlink(missing_ok=True)


def _receipts(home: Path) -> Iterator[tuple[Path, Receipt]]:
    for path in (home / FOLDER).glob("*.json"):
        yield path, Receipt.model_validate_json(path.read_text())
