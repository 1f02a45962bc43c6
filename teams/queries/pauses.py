"""Whether a project, or one credential in it, is given nothing: off means off (spec 4.6)."""

from typing import Final
from uuid import UUID

from teams.models import Project

PAUSED: Final = "injection_paused"  # settings of a project
PAUSED_TOKENS: Final = "injection_paused_tokens"


def is_paused(*, project: Project | None, token_id: UUID | None) -> bool:
    """Say whether nothing is given to a credential in a project."""
    if project is None:
        return False
    return bool(project.settings.get(PAUSED)) or (
        token_id is not None and token_id in paused_tokens(project=project)
    )


def paused_tokens(*, project: Project) -> frozenset[UUID]:
    """Return the credentials that are given nothing in a project."""
    named = project.settings.get(PAUSED_TOKENS)
    return frozenset(UUID(one) for one in named) if isinstance(named, list) else frozenset()
