"""The accounts app: the public schema, who calls and for which organization."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The app of the public schema."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
