"""Functions, storage and constraints that models cannot say."""

from pathlib import Path

from django.db import migrations

SCRIPTS = tuple(
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("0002_scale.sql", "0002_search.sql")
)


class Migration(migrations.Migration):
    """Create the search objects."""

    dependencies = (("memory", "0001_initial"),)
    operations = tuple(migrations.RunSQL(script, migrations.RunSQL.noop) for script in SCRIPTS)
