"""Models of the public schema: people, organizations, credentials and background work."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django_tenants.models import DomainMixin, TenantMixin

from accounts.caller import Role, Tenant
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

    @property
    def tenant(self) -> Tenant:
        """The organization, to be entered."""
        return Tenant(organization_id=self.id, slug=self.slug, schema_name=self.schema_name)


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


class UserManager(BaseUserManager["User"]):
    """Makes users from an e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a person with a usable password, or an unusable one when it is None."""
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a person who may use the operators' admin site."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """A person."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(max_length=254)
    name = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=8, blank=True)
    theme = models.CharField(max_length=8, blank=True)
    shortcuts = models.BooleanField(default=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (models.UniqueConstraint(Lower("email"), name="user_email_once"),)
        ordering = ("email", "id")


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


class Job(models.Model):
    """One piece of background work of an organization."""

    class State(models.TextChoices):
        """Where a job stands."""

        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        QUARANTINED = "quarantined"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organization = models.ForeignKey(
        "accounts.Organization", on_delete=models.CASCADE, related_name="jobs"
    )
    name = models.CharField(max_length=60)
    queue = models.CharField(max_length=20)
    priority = models.PositiveSmallIntegerField(default=3)
    key = models.CharField(max_length=200, blank=True)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=80, blank=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    error_parts = models.JSONField(null=True, blank=True)  # of `error`, by `sentences`
    created_by = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("organization", "name", "key"),
                condition=~Q(key="") & Q(state="queued"),
                name="job_waiting_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("queue", "priority", "run_after", "id"),
                condition=Q(state="queued"),
                name="job_due",
            ),
            models.Index(fields=("lease_until",), condition=Q(state="running"), name="job_leased"),
            models.Index(fields=("organization", "-created_at", "id"), name="job_of_organization"),
        )
        ordering = ("-created_at", "id")


class Slot(models.Model):
    """A run of a scheduled job: its existence means that some process has taken it."""

    name = models.CharField(max_length=60)
    starts_at = models.DateTimeField()
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("name", "starts_at"), name="slot_taken_once"),
        )
        ordering = ("-starts_at", "name", "id")


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


class SessionRow(AbstractBaseSession):
    """A session in a browser, in Django's own table, with who is signed in by it."""

    user_id = models.UUIDField(null=True)

    class Meta:
        managed = False
        db_table = "django_session"
