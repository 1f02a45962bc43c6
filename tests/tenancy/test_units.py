"""A database unit reaches its own organization and nothing else."""

from dataclasses import replace

import pytest
from django.db import ProgrammingError, transaction

from accounts import tenancy
from accounts.models import Organization
from teams.models import Project
from tests.support import people


def test_tenant_tables_do_not_exist_outside_a_unit(organization: Organization) -> None:
    with (
        people.entered(organization=organization),
        pytest.raises(ProgrammingError, match="does not exist"),
        transaction.atomic(),
    ):
        Project.objects.count()


def test_a_unit_needs_an_entered_organization(db: None) -> None:
    with pytest.raises(tenancy.NoTenant), tenancy.unit():
        pass


def test_rows_of_one_organization_are_not_seen_from_another(
    organization: Organization, other_organization: Organization
) -> None:
    with people.entered(organization=organization), tenancy.unit():
        Project.objects.create(slug="secret", name="Secret")

    with people.entered(organization=other_organization), tenancy.unit():
        seen = Project.objects.count()

    assert seen == 0


def test_entering_a_second_organization_is_refused(
    organization: Organization, other_organization: Organization
) -> None:
    with (
        people.entered(organization=organization),
        pytest.raises(tenancy.OtherTenant),
        people.entered(organization=other_organization),
    ):
        pass


def test_a_schema_name_not_of_ours_is_refused(organization: Organization) -> None:
    with (
        pytest.raises(ValueError, match="not the schema"),
        tenancy.enter(replace(organization.tenant, schema_name='public"; DROP')),
    ):
        pass
