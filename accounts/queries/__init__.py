"""What pages and interfaces read of people, organizations, credentials and jobs."""

from accounts.queries.credentials import TokenView, state_of
from accounts.queries.credentials import token_list as tokens
from accounts.queries.directory import (
    MemberView,
    OrganizationView,
    members,
    organization_of,
    organizations_of,
    people,
)

__all__ = [
    "MemberView",
    "OrganizationView",
    "TokenView",
    "members",
    "organization_of",
    "organizations_of",
    "people",
    "state_of",
    "tokens",
]
