"""Sign a program in that has no browser: it asks, a person decides, it fetches a token (RFC 8628).

The token is made when the program fetches it, with the rights that the person has then: nothing
that could be used rests anywhere before, and who has left meanwhile has lent nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError

from accounts import audit, device_grants, free_texts, rights, tenancy
from accounts.actions import tokens
from accounts.actions.tokens import NAME_LENGTH, IssuedToken, NewToken
from accounts.caller import Caller, TokenScope
from accounts.device_grants import Asked, Codes, Decision
from accounts.errors import (
    Conflict,
    Forbidden,
    GrantDenied,
    GrantExpired,
    GrantPending,
    InvalidInput,
    NotFound,
    SlowDown,
    wrong_field,
)
from accounts.identifiers import new_id
from accounts.messages import message
from accounts.queries import directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """What a person lends a program, `projects` None: every project that the person reaches."""

    scopes: frozenset[TokenScope]
    projects: tuple[UUID, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The token of a program, and the organization it is for."""

    issued: IssuedToken
    organization: str


def ask(*, client: str, address: str, scopes: tuple[TokenScope, ...], now: datetime) -> Codes:
    """Begin: keep what a program asks for. Raises InvalidInput for a name that cannot be shown."""
    name = client.strip()
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        detail = message("The name needs 1 to {most} printable characters.", most=NAME_LENGTH)
        raise wrong_field(pointer="/client", detail=detail)
    free_texts.check(texts={"/client": name})
    asked = Asked(id=new_id(), client=name, address=address, scopes=scopes, asked_at=now)
    return device_grants.begin(asked=asked)


def approve(*, caller: Caller, user_code: str, lent: Lent) -> Asked:
    """Let a program have a token of the caller's. Raises NotFound, Conflict, InvalidInput."""
    user_id = rights.check_holds_tokens(caller=caller)
    rights.check_lends(caller=caller, scopes=lent.scopes, projects=lent.projects)
    grant = device_grants.waiting(user_code=user_code)
    decision = Decision(
        approved=True,
        user_id=user_id,
        organization=caller.organization_slug,
        scopes=tuple(sorted(lent.scopes)),
        projects=lent.projects,
    )
    with audit.caller_unit(caller=caller):
        details = {"of": str(user_id), "scopes": sorted(lent.scopes)}
        audit.append("token.approved", "token", str(grant.asked.id), caller=caller, details=details)
        _decide(grant.key, decision)
    return grant.asked


def refuse(*, user_code: str) -> Asked:
    """Refuse a program. Raises NotFound, Conflict."""
    grant = device_grants.waiting(user_code=user_code)
    _decide(grant.key, Decision(approved=False))
    return grant.asked


def fetch(*, device_code: str, now: datetime) -> Fetched:
    """Hand a program its token; again, with a new text, as long as that was not used.

    The row of the token is what says that it was fetched, so a fault on the way loses none.
    Raises GrantPending, SlowDown, GrantDenied, GrantExpired.
    """
    grant = device_grants.of_program(device_code=device_code)
    if grant is None:
        raise _expired()
    decision = device_grants.decision_of(key=grant.key)
    if decision is None:
        if device_grants.is_too_soon(key=grant.key):
            raise _too_soon()
        raise GrantPending(
            detail="Nobody has decided yet.",
            hint="Ask again after the interval, until it expires.",
        )
    if not decision.approved or decision.user_id is None:
        raise _denied()
    return _fetched(grant.asked, decision, decision.user_id, now)


def _fetched(asked: Asked, decision: Decision, user_id: UUID, now: datetime) -> Fetched:
    new = NewToken(
        id=asked.id,
        name=asked.client,
        scopes=frozenset(decision.scopes),
        projects=decision.projects,
    )
    try:
        caller = directory.person(user_id=user_id, slug=decision.organization)
        with tenancy.enter(
            organization_id=caller.organization_id,
            slug=caller.organization_slug,
            schema_name=caller.schema_name,
        ):
            again = tokens.create_again(caller=caller, new=new, now=now)
            issued = again or tokens.create_token(caller=caller, new=new, now=now)
    except (NotFound, Forbidden, InvalidInput) as error:  # the person has less than before
        raise _denied() from error
    except Conflict as error:
        raise _expired() from error
    except IntegrityError as error:  # another fetch of the same code was first, just now
        raise _too_soon() from error
    return Fetched(issued=issued, organization=caller.organization_slug)


def _decide(key: str, decision: Decision) -> None:
    if not device_grants.decide(key=key, decision=decision):
        raise device_grants.decided()


def _too_soon() -> SlowDown:
    return SlowDown(
        detail="Asked again too soon.",
        hint=message("Wait {seconds} s longer each time.", seconds=device_grants.INTERVAL_SECONDS),
    )


def _denied() -> GrantDenied:
    return GrantDenied(
        detail="The person refused, or may not lend this.", hint="Begin again: cairn login."
    )


def _expired() -> GrantExpired:
    return GrantExpired(
        detail="This code is unknown, expired or was used.", hint="Begin again: cairn login."
    )
