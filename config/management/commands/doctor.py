"""Say what is wrong with this installation and how to mend it, one line each."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from config import health


class Command(BaseCommand):
    """Run every check; exit with 1 when one finds something wrong."""

    help = "Say what is wrong with this installation and how to mend it."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the findings, the wrong ones with their fix."""
        findings = health.diagnosis()
        for finding in findings:
            style, sign = (self.style.SUCCESS, "✓") if finding.ok else (self.style.ERROR, "✗")
            fix = "" if finding.ok else f" {finding.fix}"
            self.stdout.write(f"{style(sign)} {finding.name}: {finding.detail}.{fix}")
        wrong = sum(1 for finding in findings if not finding.ok)
        if wrong:
            self.stdout.write(f"{wrong} of {len(findings)} checks found something wrong.")
            sys.exit(1)
        self.stdout.write("Everything is well.")
