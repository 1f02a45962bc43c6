"""Every surface of the product has a line in matrix.toml, and every line a surface."""

from collections.abc import Callable

import pytest

from tests.tenancy.isolation import matrix, surfaces


@pytest.mark.goal(name="G1")
def test_every_surface_is_listed(figure: Callable[[str], None]) -> None:
    found = {surface.name for surface in surfaces.found()}

    assert found - matrix.listed() == set()
    figure(f"{len(found)} of {len(found)} surfaces listed")


def test_every_line_has_its_surface() -> None:
    found = {surface.name for surface in surfaces.found()}

    assert matrix.listed() - found == set()


def test_every_request_has_a_policy() -> None:
    named = {ask.policy for ask in matrix.asks()}

    assert named == set(matrix.policies())
