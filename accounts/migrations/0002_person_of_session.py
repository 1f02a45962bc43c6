"""Sessions say whose they are, so that a person can list and end theirs."""

from django.db import migrations, models

ADD = """
ALTER TABLE django_session ADD COLUMN IF NOT EXISTS user_id uuid NULL;
CREATE INDEX IF NOT EXISTS accounts_session_person ON django_session (user_id)
    WHERE user_id IS NOT NULL
"""
REMOVE = "ALTER TABLE django_session DROP COLUMN user_id"


class Migration(migrations.Migration):
    """Add the column; sessions of before get theirs when they are next written."""

    dependencies = [("accounts", "0001_baseline"), ("sessions", "0001_initial")]

    operations = [
        migrations.RunSQL(ADD, REMOVE),
        migrations.CreateModel(
            name="SessionRow",
            fields=[
                (
                    "session_key",
                    models.CharField(
                        max_length=40, primary_key=True, serialize=False, verbose_name="session key"
                    ),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("user_id", models.UUIDField(null=True)),
            ],
            options={"db_table": "django_session", "managed": False},
        ),
    ]
