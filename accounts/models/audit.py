"""Where the audit log of an organization ends, kept apart from its entries."""

from typing import ClassVar

from django.db import models

from accounts.models.organizations import Organization


class AuditRoot(models.Model):
    """The head of one audit log: how many entries it has, and the hash of the last.

    Made by the step of the tenant schema that makes the log.
    """

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, primary_key=True, related_name="audit_root"
    )
    count = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("organization",)
