"""Load real documents into the first project, or replay a recorded agent session.

`demo` loads what Cairn's own files say; `demo --from FOLDER` what the documents of any folder say;
`demo --play` makes the calls of a recorded session at the running server. Each may be run again.
"""

import json
import time
from argparse import ArgumentParser
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts import audit
from accounts.audit import Origin, Surface
from accounts.authentication import caller_from_token, entered
from accounts.errors import CairnError
from config import demo
from memory.documents import markdown_notes
from memory.intake.actions.remember import remember_all
from memory.intake.validation import NewMemory
from memory.taxonomy import SourceInterface
from teams import queries as places
from teams.actions import create_project

PACE_SECONDS: Final = 2.0
BATCH: Final = 250  # statements a transaction
LOOPBACK: Final = "127.0.0.1"


class Command(BaseCommand):
    """Bring the demo in through the product's own doors."""

    help = "Load Cairn's own documentation, the documents of a folder, or replay a session."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the folder, the project, and how fast to play."""
        parser.add_argument("--from", dest="folder", type=Path, help="folder to read instead")
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
                    self._load(credentials["token"], project, options["folder"])
        except CairnError as error:
            raise CommandError(f"{error.detail} {error.hint}".strip()) from error
        except demo.Unplayable as error:
            raise CommandError(str(error)) from error

    def _load(self, token: str, project: str, folder: Path | None) -> None:
        now, began = timezone.now(), time.monotonic()
        caller = caller_from_token(text=token, agent="import", ip=LOOPBACK, now=now)
        caller = replace(caller, source_interface=SourceInterface.IMPORT.value)
        new = self._of_folder(folder, project) if folder else demo.own_statements(project=project)
        outcomes: Counter[str] = Counter()
        gates: Counter[str] = Counter()
        with entered(caller):
            if project not in {known.slug for known in places.projects(caller=caller)}:
                create_project(caller=caller, slug=project, name=project, now=now)
            for start in range(0, len(new), BATCH):
                batch = new[start : start + BATCH]
                for outcome in remember_all(caller=caller, new=batch, now=now):
                    outcomes[outcome.outcome] += 1
                    if outcome.outcome == "refused":
                        gates[outcome.gate] += 1
                self._report(start + len(batch), len(new))
        counts = ", ".join(f"{outcomes[name]} {name}" for name in ("added", "confirmed", "updated"))
        refused = "none refused"
        if gates:
            by_gate = ", ".join(f"{gate} {count}" for gate, count in sorted(gates.items()))
            refused = f"{outcomes['refused']} refused ({by_gate})"
        seconds = time.monotonic() - began
        self.stdout.write(
            f"{counts}, {refused}. {seconds:.1f} s; vectors follow in the background."
        )

    def _of_folder(self, folder: Path, project: str) -> tuple[NewMemory, ...]:
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder; name one that holds documents.")
        found = demo.documents(folder=folder)
        for document in found:
            if document.skipped:
                self.stdout.write(f"Not read: {document.path} ({document.skipped}).")
        if not found:
            raise CommandError(f"{folder} holds no README, agent rules or documentation.")
        return tuple(
            demo.of_statement(
                statement=statement,
                path=document.path,
                project=project,
                tags=(demo.tag_of(path=document.path),),
            )
            for document in found
            for statement in markdown_notes.read_document(text=document.text, path=document.path)
        )

    def _report(self, done: int, total: int) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{done} of {total}", ending="\n" if done == total else "")
            self.stdout.flush()
        elif done == total:
            self.stdout.write(f"{total} statements read")
