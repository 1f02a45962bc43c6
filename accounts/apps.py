"""The accounts app: the public schema, who calls and for which organization."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Registers the app."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
