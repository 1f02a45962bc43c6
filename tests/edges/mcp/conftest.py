"""A running server and two organizations that it can see."""

from tests.support.served import address, other_place, place

__all__ = ["address", "other_place", "place"]
