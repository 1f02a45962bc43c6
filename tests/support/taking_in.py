"""Imports in tests: an upload, its job done as a worker does, and what is known after."""

from datetime import datetime
from typing import Any, Final

from accounts import tenancy
from accounts.caller import Caller
from memory.documents import queries
from memory.documents.actions.import_batches import begin_import
from memory.documents.actions.uploads import Upload
from memory.documents.queries import ImportView
from memory.records.models import Memory
from memory.tasks import job_handlers
from tests.support import work

RULES: Final = """# Shop

## Testing
- Run `make test` before every push, since the hooks do not.
- Never mock the ledger because its rounding is what we test.

## Deploying
- Deploys happen on Tuesdays, when both teams are in.
"""


def upload(text: str = RULES, *, name: str = "CLAUDE.md", **given: Any) -> Upload:
    """Return a file for the project store."""
    return Upload(files=((name, text.encode()),), project="store", **given)


def run(caller: Caller, sent: Upload, now: datetime) -> ImportView:
    """Begin an import and do its job as a worker does."""
    begun = begin_import(caller=caller, upload=sent, now=now)
    job_handlers.take_in(work.taken(begun.job_id))
    return queries.get_import(caller=caller, batch_id=begun.id, now=now)


def active() -> list[str]:
    """Return what is known, by its text."""
    with tenancy.unit():
        rows = Memory.objects.filter(status="active").order_by("content")
        return list(rows.values_list("content", flat=True))
