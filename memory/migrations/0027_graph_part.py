"""The log of accesses says for which project was ranked, and what the graph did to the first."""

from pathlib import Path

from django.db import migrations, models

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
BACK = """
DROP FUNCTION views_of(uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean)
"""


class Migration(migrations.Migration):
    """Make room for it; what was given out before has none of it."""

    dependencies = (("memory", "0026_given_after"),)
    operations = (
        migrations.AddField("accesslog", "project_id", models.UUIDField(null=True)),
        migrations.AddField("accesslog", "graph_took_part", models.BooleanField(null=True)),
        migrations.AddField("accesslog", "graph_changed", models.BooleanField(null=True)),
        migrations.RunSQL(SCRIPT, BACK),
    )
