"""The memory app: the product."""

from importlib import import_module

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """Registers the app."""

    name = "memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the apps below ask what a secret looks like."""
        judge = import_module("memory.secrets.scanner")
        import_module("accounts.free_texts").open_door(judge=judge)
