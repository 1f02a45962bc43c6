"""What teams refuse, as leaves of the common tree.

CairnError                       (accounts.errors)
├── Forbidden
│   ├── RoleNotSufficient  403   the role may not do this; the hint names who may
│   └── NotBoundToProject  403   the token is bound to other projects
└── Conflict
    ├── DisputeClosed      409   a settled dispute takes no more comments or verdicts
    ├── LastOwner          409   an organization keeps at least one owner
    └── SlugTaken          409   the slug names another project or team
"""

from accounts.errors import Conflict, Forbidden


class RoleNotSufficient(Forbidden):
    """The caller's role may not do this."""

    code = "role_not_sufficient"
    title = "Your role does not allow this"


class NotBoundToProject(Forbidden):
    """The token is bound to other projects."""

    code = "not_bound_to_project"
    title = "The token does not cover this project"


class DisputeClosed(Conflict):
    """A settled dispute takes no more comments or verdicts."""

    code = "dispute_closed"
    title = "The dispute is settled"


class LastOwner(Conflict):
    """An organization keeps at least one owner."""

    code = "last_owner"
    title = "The last owner stays"


class SlugTaken(Conflict):
    """The slug names another project or team."""

    code = "slug_taken"
    title = "The slug is taken"
