"""Import files at the machine: `manage.py import_memories FILE… --organization o --as EMAIL`."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.caller import Caller
from memory.documents.actions import uploads
from memory.documents.actions.import_batches import begin_import, run_import
from memory.documents.actions.restoration import restore_export
from memory.documents.actions.uploads import Upload, preview_import
from memory.management.targets import PersonCommand


class Command(PersonCommand):
    """Import files, or folders of them, in a person's name."""

    help = "Import files into review, or an export as it was, with --as-it-was."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the files, the person, the project, and how."""
        parser.add_argument("files", nargs="+", type=Path, help="files, or folders of them")
        super().add_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be, store nothing"
        )
        parser.add_argument("--trust", action="store_true", help="it waits for no review")
        parser.add_argument("--as-it-was", action="store_true", help="an export, with its states")

    def work(self, caller: Caller, options: dict[str, Any]) -> None:
        """Import; say how far it is, and what came of each row that was refused."""
        upload = Upload(
            files=tuple(_files(options["files"])),
            project=options["project"],
            is_trusted=options["trust"],
        )
        if options["as_it_was"]:
            self._bring_back(caller, upload)
            return
        seen = preview_import(caller=caller, upload=upload)
        for row in seen.rows:
            if row.outcome == "refused":
                self.stdout.write(f"{row.file}:{row.line or ''}: {row.gate}: {row.reason}")
        counts: Any = seen.counts
        if not options["dry_run"]:
            now = timezone.now()
            batch = begin_import(caller=caller, upload=upload, now=now)
            counts = run_import(
                caller=caller,
                batch_id=batch.id,
                now=now,
                tell=lambda done, total: self.stdout.write(f"{done} of {total} rows"),
            )
        told = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
        self.stdout.write(f"{len(seen.files)} files: {told}")

    def _bring_back(self, caller: Caller, upload: Upload) -> None:
        found = uploads.read_upload(upload=upload)
        records = tuple(one.record for one in found.candidates if one.record)
        done = restore_export(
            caller=caller, project=upload.project, records=records, now=timezone.now()
        )
        for id, reason in done.refused:
            self.stdout.write(f"{id}: {reason}")
        refused = len(done.refused) + len(found.faults)
        self.stdout.write(f"{done.added} added, {done.known} known, {refused} refused")


def _files(paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        if path.is_dir():
            inside = (
                one for one in sorted(path.rglob("*")) if one.is_file() and not one.is_symlink()
            )
            yield from ((str(one.relative_to(path.parent)), one.read_bytes()) for one in inside)
        elif path.is_file():
            yield path.name, path.read_bytes()
        else:
            raise CommandError(f"There is no file {path}.")
