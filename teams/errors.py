"""What teams refuse, as leaves of the common tree."""

from accounts.errors import Conflict, Forbidden


class NotBoundToProject(
    Forbidden, code="not_bound_to_project", title="The token does not cover this project"
):
    """The token is bound to other projects."""


class SlugTaken(Conflict, code="slug_taken", title="The slug is taken"):
    """The slug names another project or team."""
