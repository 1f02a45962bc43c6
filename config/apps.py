"""The config app: it makes every Django process know the Celery application and all jobs."""

from importlib import import_module

from django.apps import AppConfig

from config import tracing

HOLDS_TASKS = ("config.celery", "accounts.tasks", "memory.tasks")


class ConfigConfig(AppConfig):
    """Loads the Celery application, so that `enqueue` reaches the broker from any process."""

    name = "config"

    def ready(self) -> None:
        """Import the Celery application and the handlers of all jobs; let traces see them."""
        for module in HOLDS_TASKS:
            import_module(module)
        tracing.instrument()
