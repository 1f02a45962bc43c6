"""People: signed in by e-mail, known to organizations through memberships."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.identifiers import new_id


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
