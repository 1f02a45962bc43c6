"""Take back what readers of the night found in an organization's memories.

What the patterns of each writing found stays. The memories stay marked as read, so the next night
does not find the same again; a new text of one is read anew.
"""

from accounts import tenancy
from memory.entities.models import Mention


def forget_enriched() -> int:
    """Forget the names that a reader of the night found; return how many."""
    with tenancy.unit():
        return Mention.objects.filter(read_by__gt=0).delete()[0]
