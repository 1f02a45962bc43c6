"""What was said is found by its words."""

from pathlib import Path

from django.db import migrations

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Keep the words of turns in a column that fills itself, and index them."""

    dependencies = (("memory", "0019_given_back"),)
    operations = (migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),)
