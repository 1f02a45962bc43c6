"""The product's ASGI application with the moments of `tests.support.moments` in it."""

from config.asgi import application
from tests.support import moments

__all__ = ["application", "moments"]
