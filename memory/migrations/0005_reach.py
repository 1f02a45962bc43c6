"""Memories that do not apply everywhere, by index."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Add the index."""

    dependencies = [("memory", "0004_action_certainty")]

    operations = [
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=~Q(reach="global"), fields=["audience"], name="memory_limited"
            ),
        ),
    ]
