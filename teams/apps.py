"""The teams app: places, people's parts in them, and who decides."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """Registers the app."""

    name = "teams"
    default_auto_field = "django.db.models.BigAutoField"
