"""A running server and an organization that it can see."""

from tests.support.served import address, place

__all__ = ["address", "place"]
