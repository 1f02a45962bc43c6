"""The one-command start: the supervisor has set every address and secret."""

from config.settings.production import *  # noqa: F403
