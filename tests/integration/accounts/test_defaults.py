"""What connections start with is stored with the role, so that any pooler may stand in between."""

import pytest
from django.db import connection

from accounts.tenancy import rls
from config import health

pytestmark = pytest.mark.django_db

FORGET = "ALTER ROLE SESSION_USER IN DATABASE {} RESET jit"


def test_migrated_database_has_all_defaults() -> None:
    assert rls.missing_connection_defaults() == ()


@pytest.mark.parametrize(("name", "value"), rls.CONNECTION_DEFAULTS[:2])
def test_connection_starts_with_a_default(name: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reset_val FROM pg_settings WHERE name = %s", [name])

        assert cursor.fetchone() == (value,)


def test_lost_default_is_told_with_the_way_out() -> None:
    with connection.cursor() as cursor:
        cursor.execute(FORGET.format(connection.ops.quote_name(connection.settings_dict["NAME"])))

    finding = health.check_migrations()

    assert rls.missing_connection_defaults() == ("jit",)
    assert (finding.ok, finding.fix) == (False, "Run: manage.py migrate")
