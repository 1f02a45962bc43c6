"""Write memories to a file: `manage.py export_memories FILE --organization acme --as EMAIL`."""

from argparse import ArgumentParser
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.caller import Caller
from memory.documents.actions.export import BUDGET_TOKENS, ExportFormat, ExportRequest, export
from memory.management.targets import PersonCommand


class Command(PersonCommand):
    """Export what one person may see."""

    help = "Write memories to a file: those that a person may see and a filter lets through."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file, the person, the project, the filter and the format."""
        parser.add_argument("file", type=Path, help="the file that is written; it must not exist")
        super().add_arguments(parser)
        parser.add_argument("--query", default="is:any", help="filters; is:any when left out")
        parser.add_argument(
            "--format", default="ndjson", choices=[one.value for one in ExportFormat]
        )
        parser.add_argument("--budget", type=int, default=BUDGET_TOKENS, help="of a CLAUDE.md")

    def work(self, caller: Caller, options: dict[str, Any]) -> None:
        """Write the file, and say what is in it."""
        request = ExportRequest(
            project=options["project"],
            query=options["query"],
            format=ExportFormat(options["format"]),
            budget_tokens=options["budget"],
        )
        made = export(caller=caller, request=request, now=timezone.now())
        try:
            with made.file, options["file"].open("xb") as file:
                copyfileobj(made.file, file)
                size = file.tell()
        except FileExistsError as error:
            raise CommandError(f"{options['file']} exists already.") from error
        self.stdout.write(f"{made.memories} memories, {size:,} bytes: {options['file']}")
