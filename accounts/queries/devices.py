"""What a program waits for, as the person sees it who is to decide (RFC 8628)."""

from accounts.backend import grants
from accounts.backend.grants import Grant
from accounts.errors import Conflict, NotFound


def waiting(*, user_code: str) -> Grant:
    """Return what a program asks for. Raises NotFound, and Conflict where it was decided."""
    grant = grants.of_person(typed=user_code)
    if grant is None:
        raise NotFound(
            detail="There is no such code, or it has expired.",
            hint="A code lives ten minutes. Begin again in the terminal, and type what it shows.",
        )
    if grants.decision_of(key=grant.key) is not None:
        raise decided()
    return grant


def decided() -> Conflict:
    """Return the refusal of a code about which somebody has decided."""
    return Conflict(
        detail="This code was used already.", hint="Begin again in the terminal for a new one."
    )
