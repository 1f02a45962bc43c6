"""What teams refuse, as leaves of the common tree."""

from accounts.errors import Conflict, Forbidden


class NotBoundToProject(Forbidden):
    """The token is bound to other projects."""

    code = "not_bound_to_project"
    title = "The token does not cover this project"


class SlugTaken(Conflict):
    """The slug names another project or team."""

    code = "slug_taken"
    title = "The slug is taken"
