"""The teams app: places, people's parts in them, and who decides."""

from importlib import import_module

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """The app of projects, teams and visibility."""

    name = "teams"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Open the door of the audit log to the apps below."""
        import_module("accounts.audit").open_door(writer=import_module("teams.audit").append)
