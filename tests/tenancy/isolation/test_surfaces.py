"""Every surface of the product has a line in matrix.toml, and every line a surface."""

from tests.tenancy.isolation import matrix, surfaces


def test_every_surface_is_listed() -> None:
    found = {surface.name for surface in surfaces.found()}

    assert found - matrix.listed() == set()


def test_every_line_has_its_surface() -> None:
    found = {surface.name for surface in surfaces.found()}

    assert matrix.listed() - found == set()


def test_every_request_has_a_policy() -> None:
    named = {ask.policy for ask in matrix.asks()}

    assert named == set(matrix.policies())
