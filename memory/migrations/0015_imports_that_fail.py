"""An import knows the token that began it, and says why it failed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the columns."""

    dependencies = (("memory", "0014_session_read_by"),)
    operations = (
        migrations.AddField("import", "token_id", models.UUIDField(null=True)),
        migrations.AddField(
            "import", "error", models.CharField(blank=True, default="", max_length=400)
        ),
    )
