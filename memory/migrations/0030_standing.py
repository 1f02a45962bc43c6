"""What stands whatever the task is found among all that is known of a project."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Make the index: of what is pinned, of the first governance layer, or a reflection."""

    dependencies = (("memory", "0029_sessions_of_phases"),)
    operations = (
        migrations.AddIndex(
            "memory",
            models.Index(
                fields=["project", "id"],
                condition=Q(status="active")
                & (Q(pinned=True) | Q(governance=1) | Q(type="reflection")),
                name="memory_standing",
            ),
        ),
    )
