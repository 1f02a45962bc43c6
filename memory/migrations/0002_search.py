"""Functions, storage and constraints that models cannot say."""

from pathlib import Path

from django.db import migrations

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the search objects."""

    dependencies = (("memory", "0001_initial"),)
    operations = (migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),)
