"""Check or export the audit logs: `manage.py audit verify` and `manage.py audit export`.

`verify` prints the head of each log. Keep that line elsewhere: with `--head` it also finds whoever
has rewritten a whole log together with its head.
"""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from accounts import tenancy
from accounts.tenancy import Tenant
from teams.audit import every_entry, verify
from teams.audit_chain import Head


class Command(BaseCommand):
    """Go through the logs of all organizations, or of one."""

    help = "Check that no audit log was tampered with, or write the logs out as NDJSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what to do, the organization, and a head noted earlier."""
        parser.add_argument("what", choices=("verify", "export"))
        parser.add_argument("--organization", help="its short name; all when left out")
        parser.add_argument("--head", help="NUMBER:HASH as verify printed it; needs --organization")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; logs that do not hold end the command with an error after all were looked at."""
        mark = _mark(options["head"])
        if mark is not None and not options["organization"]:
            raise CommandError("Name the organization of that head: --organization SLUG.")
        tenants = _chosen(options["organization"])
        if options["what"] == "export":
            self._export(tenants)
            return
        broken = sum(self._is_broken(tenant, mark) for tenant in tenants)
        if broken:
            raise CommandError(f"{broken} of {len(tenants)} audit logs do not hold.")

    def _is_broken(self, tenant: Tenant, mark: Head | None) -> bool:
        with tenancy.enter(tenant):
            verdict = verify(mark=mark)
        head = f"{verdict.head.count}:{verdict.head.hash}"
        fault = verdict.fault
        if fault is None:
            self.stdout.write(f"{tenant.slug}: {verdict.checked} entries hold, head {head}")
            return False
        self.stdout.write(
            f"{tenant.slug}: entry {fault.number} was {fault.kind.value}: {fault.says};"
            f" {verdict.checked} entries before it hold, until {head}"
        )
        return True

    def _export(self, tenants: tuple[Tenant, ...]) -> None:
        for tenant in tenants:
            with tenancy.enter(tenant):
                for entry in every_entry():
                    line = {"organization": tenant.organization_id, **asdict(entry)}
                    self.stdout.write(orjson.dumps(line, option=orjson.OPT_UTC_Z).decode())


def _chosen(slug: str | None) -> tuple[Tenant, ...]:
    found = tuple(
        tenant for tenant in tenancy.each_organization() if slug is None or tenant.slug == slug
    )
    if slug is not None and not found:
        raise CommandError(f"There is no organization {slug!r}.")
    return found


def _mark(text: str | None) -> Head | None:
    if text is None:
        return None
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise CommandError("A head is NUMBER:HASH, as `manage.py audit verify` prints it.")
    return Head(count=int(number), hash=digest)
