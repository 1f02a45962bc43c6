"""What pages and interfaces read of people, organizations, credentials and jobs."""

from accounts.queries.credentials import (
    TokenView,
    any_silent,
    is_silent,
    state_of,
    token_ids_of,
)
from accounts.queries.credentials import token_list as tokens
from accounts.queries.devices import waiting as waiting_device
from accounts.queries.directory import (
    MemberView,
    OrganizationView,
    keep_events_days,
    longest_token_days,
    members,
    members_among,
    organization_of,
    organizations_of,
    people,
)
from accounts.queries.invites import (
    InvitationOffer,
    InvitationView,
    invitation_offer,
    invitations,
)
from accounts.queries.sessions import person_of
from accounts.queries.work import JobPage, JobView, job, jobs

__all__ = [
    "InvitationOffer",
    "InvitationView",
    "JobPage",
    "JobView",
    "MemberView",
    "OrganizationView",
    "TokenView",
    "any_silent",
    "invitation_offer",
    "invitations",
    "is_silent",
    "job",
    "jobs",
    "keep_events_days",
    "longest_token_days",
    "members",
    "members_among",
    "organization_of",
    "organizations_of",
    "people",
    "person_of",
    "state_of",
    "token_ids_of",
    "tokens",
    "waiting_device",
]
