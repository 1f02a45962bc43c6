"""Models of the public schema."""

from accounts.models.audit import AuditRoot
from accounts.models.jobs import Job, Slot
from accounts.models.organizations import (
    Domain,
    Invitation,
    Membership,
    Organization,
    Plan,
    SchemaStep,
    Usage,
)
from accounts.models.people import User
from accounts.models.tokens import Token

__all__ = [
    "AuditRoot",
    "Domain",
    "Invitation",
    "Job",
    "Membership",
    "Organization",
    "Plan",
    "SchemaStep",
    "Slot",
    "Token",
    "Usage",
    "User",
]
