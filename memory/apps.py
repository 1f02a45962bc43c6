"""The memory app: the product."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """Registers the app."""

    name = "memory"
    default_auto_field = "django.db.models.BigAutoField"
