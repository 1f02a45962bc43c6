"""Load real documents into the first project, or replay a recorded agent session.

`demo` loads what Cairn's own files say; `demo --from FOLDER` what the documents of any folder say,
for review unless `--trust` is given; both are imports, which the imports page shows and undoes.
`demo --play` makes the calls of a recorded session at the running server. Each may be run again.
"""

import json
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts import audit, tenancy
from accounts.audit import Origin, Surface
from accounts.authentication import caller_from_token, entered
from accounts.errors import CairnError
from config import demo
from memory.documents import queries
from memory.documents.actions.import_batches import begin_import, run_import
from memory.documents.actions.uploads import Upload
from memory.documents.file_formats import DocumentReading
from memory.taxonomy import SourceInterface
from teams import queries as places
from teams.actions import create_project

PACE_SECONDS: Final = 2.0
LOOPBACK: Final = "127.0.0.1"


class Command(BaseCommand):
    """Bring the demo in through the product's own doors."""

    help = "Load Cairn's own documentation, the documents of a folder, or replay a session."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the folder, the project, and how fast to play."""
        parser.add_argument("--from", dest="folder", type=Path, help="folder to read instead")
        parser.add_argument(
            "--trust", action="store_true", help="what the folder says waits for no review"
        )
        parser.add_argument("--project", help="short name of the project; made when missing")
        parser.add_argument("--play", action="store_true", help="replay a recorded agent session")
        parser.add_argument("--pace", type=float, default=PACE_SECONDS, help="seconds a step")
        parser.add_argument("--credentials", type=Path, help="file written by bootstrap")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load or play."""
        path = options["credentials"] or settings.CAIRN_HOME / "credentials.json"
        try:
            credentials = dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise CommandError(
                f"{path} is missing; run bootstrap, or start with: make run"
            ) from error
        project = options["project"] or credentials["project"]
        try:
            if options["play"]:
                url, token = credentials["url"], credentials["token"]
                pace = partial(time.sleep, options["pace"])
                with demo.client(url=url, token=token) as client:
                    for step, result in demo.play(
                        client=client, project=project, steps=demo.read(), pause=pace
                    ):
                        self.stdout.write(f"{step.say} → {result}")
            else:
                origin = Origin(surface=Surface.COMMAND, request_id=uuid4().hex)
                with audit.coming_from(origin=origin):
                    folder = options["folder"]
                    found = self._read_folder(folder) if folder else demo.read_own()
                    is_trusted = folder is None or options["trust"]
                    self._load(credentials["token"], project, found, is_trusted=is_trusted)
        except CairnError as error:
            raise CommandError(f"{error.detail} {error.hint}".strip()) from error
        except demo.Unplayable as error:
            raise CommandError(str(error)) from error

    def _load(self, token: str, project: str, found: DocumentReading, *, is_trusted: bool) -> None:
        now, began = timezone.now(), time.monotonic()
        caller = caller_from_token(text=token, agent="import", ip=LOOPBACK, now=now)
        caller = replace(caller, source_interface=SourceInterface.IMPORT.value)
        upload = Upload(files=(), project=project, is_trusted=is_trusted)
        with entered(caller):
            if project not in {known.slug for known in places.projects(caller=caller)}:
                create_project(caller=caller, slug=project, name=project, now=now)
            batch = begin_import(caller=caller, upload=upload, found=found, now=now)
            outcomes: Mapping[str, int] = Counter(
                run_import(caller=caller, batch_id=batch.id, now=now, tell=self._report)
            )
            with tenancy.unit():
                gates = queries.count_refusals(batch_id=batch.id)
        counts = ", ".join(f"{outcomes[name]} {name}" for name in ("added", "confirmed", "updated"))
        refused = "none refused"
        if gates:
            by_gate = ", ".join(f"{gate} {count}" for gate, count in sorted(gates.items()))
            refused = f"{outcomes['refused']} refused ({by_gate})"
        seconds = time.monotonic() - began
        self.stdout.write(
            f"{counts}, {refused}. {seconds:.1f} s; vectors follow in the background."
        )

    def _read_folder(self, folder: Path) -> DocumentReading:
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder; name one that holds documents.")
        found = demo.documents(folder=folder)
        for document in found:
            if document.skipped:
                self.stdout.write(f"Not read: {document.path} ({document.skipped}).")
        if not found:
            raise CommandError(f"{folder} holds no README, agent rules or documentation.")
        return demo.read_folder(found=found)

    def _report(self, done: int, total: int) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{done} of {total}", ending="\n" if done == total else "")
            self.stdout.flush()
        elif done == total:
            self.stdout.write(f"{total} statements read")
