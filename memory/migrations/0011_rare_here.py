"""A search of some projects weighs words by how rare they are there."""

from pathlib import Path

from django.db import migrations

SCRIPT = Path(__file__).with_name("0011_rare_here.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the function, and let searches call it."""

    dependencies = (("memory", "0010_sessions_and_turns"),)
    operations = (migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),)
