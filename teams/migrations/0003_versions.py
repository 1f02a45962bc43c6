"""Projects and teams have versions, so that no edit of one is lost."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Begin every version at 1."""

    dependencies = (("teams", "0002_audit_chain"),)
    operations = (
        migrations.AddField(
            model_name="project",
            name="version",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="team",
            name="version",
            field=models.PositiveIntegerField(default=1),
        ),
    )
