"""What teams refuse, as leaves of the common tree."""

from accounts.errors import Conflict, Forbidden, RoleNotSufficient

__all__ = ["DisputeClosed", "NotBoundToProject", "RoleNotSufficient", "SlugTaken"]


class NotBoundToProject(Forbidden):
    """The token is bound to other projects."""

    code = "not_bound_to_project"
    title = "The token does not cover this project"


class DisputeClosed(Conflict):
    """A settled dispute takes no more comments or verdicts."""

    code = "dispute_closed"
    title = "The dispute is settled"


class SlugTaken(Conflict):
    """The slug names another project or team."""

    code = "slug_taken"
    title = "The slug is taken"
