"""What is counted: by kind, place, day and key.

One table for every sum that grows over time: what models cost, and what sessions show of files. A
place is an audience and a project, as for topics, so whoever may see the audience may see the sums.
`memory/statistics/sql/statistics.sql` adds to a row in one statement, so no count is ever lost.
"""

from django.db import models

LONGEST_KIND = 24  # characters, the column's
LONGEST_KEY = 400  # characters, the column's


class Statistic(models.Model):
    """The sums of one thing: `counts` by name, whole numbers, or exact decimals as text.

    `notes` under it is an object of anything else that is known of the thing; the newest stands.
    """

    kind = models.CharField(max_length=LONGEST_KIND)
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    day = models.DateField(null=True)
    key = models.CharField(max_length=LONGEST_KEY)
    counts = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "audience", "project_id", "day", "key"),
                nulls_distinct=False,
                name="memory_statistic_once",
            ),
        )
        indexes = (
            models.Index(fields=("kind", "project_id", "day"), name="memory_statistic_kind"),
        )
        ordering = ("kind", "day", "key", "id")
