"""API tokens: a lookup part in clear, the whole only as a keyed digest."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.identifiers import new_id


class Token(models.Model):
    """A credential of an agent or a script, for one organization."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organization = models.ForeignKey(
        "accounts.Organization", on_delete=models.CASCADE, related_name="tokens"
    )
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=12)
    lookup = models.CharField(max_length=24, unique=True)
    digest = models.CharField(max_length=64)
    last_four = models.CharField(max_length=4)
    scopes = ArrayField(models.CharField(max_length=10))
    projects = ArrayField(models.UUIDField(), null=True, blank=True)
    source_interface = models.CharField(max_length=20, default="api")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_ip = models.GenericIPAddressField(null=True, blank=True)
    last_used_agent = models.CharField(max_length=120, blank=True)
    last_used_hook = models.PositiveSmallIntegerField(null=True, blank=True)
    replaced_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = (models.Index(fields=("organization", "user")),)
        ordering = ("-created_at", "id")
