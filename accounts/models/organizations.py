"""Organizations (tenants), who belongs to them, and what they may use."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django_tenants.models import DomainMixin, TenantMixin

from accounts.caller import Role
from accounts.identifiers import new_id

ROLES = [(role.value, role.value) for role in Role]


class Plan(models.Model):  # type: ignore[django-manager-missing]  # through django-tenants
    """Limits an organization has; nothing means no limit."""

    name = models.CharField(max_length=40, unique=True)
    memories = models.PositiveIntegerField(null=True, blank=True)
    projects = models.PositiveIntegerField(null=True, blank=True)
    members = models.PositiveIntegerField(null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    model_tokens_per_month = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("name", "id")


class Organization(TenantMixin):  # type: ignore[misc]  # django-tenants has no types
    """A tenant: one Postgres schema that holds everything it owns."""

    auto_create_schema = False
    auto_drop_schema = False

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=48, unique=True)
    name = models.CharField(max_length=100)
    personal = models.BooleanField(default=False)
    ready = models.BooleanField(default=False)
    schema_version = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=8, default="en")
    longest_token_days = models.PositiveSmallIntegerField(default=365)
    keep_events_days = models.PositiveSmallIntegerField(null=True, blank=True)
    plan = models.ForeignKey(Plan, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("slug", "id")


class Domain(DomainMixin):  # type: ignore[misc]  # django-tenants has no types
    """A host name of an organization's own."""

    class Meta:
        ordering = ("domain", "id")


class Membership(models.Model):
    """A person's part in an organization."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=ROLES, default=Role.MEMBER.value)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("organization", "user"), name="membership_once"),
        )
        ordering = ("created_at", "id")


class Invitation(models.Model):
    """An invitation to one e-mail address; only the digest of its secret is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="invitations"
    )
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=10, choices=ROLES, default=Role.MEMBER.value)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey("accounts.User", on_delete=models.CASCADE)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                "organization",
                Lower("email"),
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_open_once",
            ),
        )
        ordering = ("-created_at", "id")


class Usage(models.Model):
    """What an organization used in a month, by kind."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="usage")
    month = models.DateField()
    kind = models.CharField(max_length=40)
    amount = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("organization", "month", "kind"), name="usage_once"),
        )
        ordering = ("-month", "kind", "id")


class SchemaStep(models.Model):
    """One captured migration of the tenant schema, replayed for every tenant that lacks it."""

    position = models.PositiveIntegerField(primary_key=True)
    name = models.CharField(max_length=200, unique=True)
    script = models.TextField()

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("position",)
