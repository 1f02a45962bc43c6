"""An organization's own ways to work: what its phases are called (spec 3.1)."""

from django.db import models


class Methodology(models.Model):
    """A methodology by name, and which of the six phases each of its own is."""

    name = models.CharField(max_length=40, primary_key=True)
    phases = models.JSONField(default=dict)
    defined_by = models.UUIDField(null=True)
    defined_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)
