"""The graph app: what the code of a project is, and what is known about it."""

from django.apps import AppConfig


class GraphConfig(AppConfig):
    """The app of code and knowledge as a graph."""

    name = "graph"
    default_auto_field = "django.db.models.BigAutoField"
