"""What an organization, or a person in it, defines: methodologies, styles, trust in a project."""

from django.db import models
from django.db.models import Q

from accounts.identifiers import new_id


class Definition(models.Model):
    """A methodology, a communication style or trust by name.

    Its audience is the organization's id, or a person's for what is that person's alone. What the
    body holds is for its kind: the phases of a methodology; text and contexts of a style, of which
    each audience has at most one by default; a person's standing in the project whose id is its
    name.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=12)
    name = models.CharField(max_length=40)
    audience = models.UUIDField()
    body = models.JSONField(default=dict)
    is_default = models.BooleanField(default=False)
    defined_by = models.UUIDField(null=True)
    defined_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("audience", "kind", "name"), name="memory_definition_once"
            ),
            models.UniqueConstraint(
                fields=("audience", "kind"),
                condition=Q(is_default=True),
                name="memory_definition_default",
            ),
        )
        ordering = ("kind", "name", "id")
