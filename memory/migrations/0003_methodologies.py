"""Methodologies of an organization's own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Create their table."""

    dependencies = (("memory", "0002_search"),)
    operations = (
        migrations.CreateModel(
            name="Methodology",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("phases", models.JSONField(default=dict)),
                ("defined_by", models.UUIDField(null=True)),
                ("defined_at", models.DateTimeField()),
            ],
            options={"ordering": ("name",)},
        ),
    )
