"""What is loaded is not looked through for garbage while a job waits."""

import gc

import pytest

from config import celery


@pytest.fixture
def thawed() -> None:
    """Nothing counts as lasting yet."""
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_a_worker_keeps_what_it_has_loaded() -> None:
    known = len(gc.get_objects())

    celery.keep_loaded()

    assert gc.get_freeze_count() > known / 2
    assert len(gc.get_objects()) < known / 2
