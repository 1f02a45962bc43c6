"""What was done to one object, and who confirmed what, is found however long the log has become."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Index the audit log by its objects, and what was confirmed in person by itself."""

    dependencies = (("teams", "0003_versions"),)
    operations = (
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["object_id", "number"], name="teams_audit_object"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(
                    (
                        "act__in",
                        ("memory.confirmed", "memory.bulk_confirmed", "memory.bulk_written"),
                    ),
                    ("agent", ""),
                    ("token_id__isnull", True),
                ),
                fields=["act", "object_id"],
                name="teams_audit_confirmed",
            ),
        ),
    )
