"""Create, rotate and revoke API tokens, note their use, and end those that leaked.

Whoever reads a token's text can act as its owner, so only the owner makes or rotates one; managers
see and revoke the tokens of others. Whoever holds the whole text could use the token, so a finder
needs no other right to end it. The mail about a leak goes out as a job: sending it in the request
would tell the finder by the time it takes.
"""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts import audit, free_texts, jobs, live, peppers, queries, tenancy, token_format
from accounts.caller import Caller, TokenScope, check_holds_tokens, check_lends
from accounts.errors import Conflict, InvalidToken, NotFound, Unavailable, wrong_field
from accounts.identifiers import as_ip, checked_name, new_id
from accounts.messages import message
from accounts.models import Token
from accounts.queries import TokenView, token_view
from accounts.tenancy import rls
from accounts.tenancy.rls import Presented

DEFAULT_DAYS: Final = 90  # until a token ends, unless its maker says otherwise
MAXIMUM_DAYS: Final = 365  # which an organization can lower
NAME_LENGTH: Final = 80  # characters, the column's
OVERLAP_HOURS: Final = 24  # how long a rotated token still works
USE_INTERVAL: Final = timedelta(minutes=1)  # the last use is written at most this often
HOOKS_MOST: Final = 10_000  # tokens of which a process knows the hook script it saw last
SEEN_SECONDS: Final = 600  # agents at work are announced once in each such slot
INTERFACES: Final = (  # the tools that can hold a token
    "api", "claude-code", "cursor", "codex", "chatgpt", "claude-ai", "perplexity", "import",
    "unknown",
)  # fmt: skip
TELL: Final = "accounts.tell_leak"
FINDER: Final = audit.Person(user_id=None, source_interface="api")
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_hooks: Final[dict[UUID, int]] = {}  # by token, so that no call asks what is stored


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """What a token is to be."""

    name: str
    scopes: frozenset[TokenScope] = field(
        default_factory=lambda: frozenset({TokenScope.READ, TokenScope.WRITE})
    )
    projects: tuple[UUID, ...] | None = None  # None: every project its owner reaches
    expires_in_days: int | None = None  # None: the default, or the organization's maximum if less
    source_interface: str = "api"
    kind: token_format.TokenKind = token_format.TokenKind.PERSON
    id: UUID = field(default_factory=new_id)  # or the one told to the person who approved


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token just made; `text` is shown now and never again."""

    text: str
    token: TokenView


def create_token(*, caller: Caller, new: NewToken, now: datetime) -> IssuedToken:
    """Make a token for the caller.

    Raises InvalidInput naming the field, Forbidden when this credential cannot handle tokens.
    """
    user_id = check_holds_tokens(caller=caller)
    name = checked_name(new.name, most=NAME_LENGTH)
    if new.source_interface not in INTERFACES:
        detail = message("The interface is one of: {names}.", names=tuple(INTERFACES))
        raise wrong_field(pointer="/source_interface", detail=detail)
    free_texts.check(texts={"/name": new.name})
    check_lends(caller=caller, scopes=new.scopes, projects=new.projects)
    with audit.unit_of(caller):
        longest = queries.longest_token_days(caller=caller)
        if new.expires_in_days is None:
            days = min(DEFAULT_DAYS, longest)
        elif 1 <= new.expires_in_days <= longest:
            days = new.expires_in_days
        else:
            detail = message("A token of this organization lives 1 to {most} days.", most=longest)
            raise wrong_field(pointer="/expires_in_days", detail=detail)
        row = Token(
            id=new.id,
            organization_id=caller.organization_id,
            user_id=user_id,
            name=name,
            kind=new.kind,
            scopes=sorted(new.scopes),
            projects=None if new.projects is None else list(new.projects),
            source_interface=new.source_interface,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        issued = _issue(row)
        _note(caller, "created", issued.token)
    return issued


def create_again(*, caller: Caller, new: NewToken, now: datetime) -> IssuedToken | None:
    """Give a token of the caller's a new text, since the answer with its text may have been lost.

    So none is left that works and that nobody holds. None where there is none of that id; raises
    Conflict for one that was used or has ended, and what making it raises.
    """
    check_holds_tokens(caller=caller)
    check_lends(caller=caller, scopes=new.scopes, projects=new.projects)
    with audit.unit_of(caller):
        row = _held(queries.own_tokens(caller=caller), new.id)
        if row is None:
            return None
        _check_replaceable(row, now=now)
        if row.last_used_at is not None:
            raise Conflict(
                detail="This token was used already.", hint="Create a new token instead."
            )
        minted = _mint(row)
        row.save(update_fields=["lookup", "digest", "last_four"])
        _note(caller, "rotated", token_view(row), by=str(row.id))
    return IssuedToken(text=minted, token=token_view(row))


def rotate_token(
    *, caller: Caller, token_id: UUID, overlap_hours: int = OVERLAP_HOURS, now: datetime
) -> IssuedToken:
    """Replace one of the caller's tokens by a new one alike; the old one ends after the overlap.

    With an overlap of 0 it is revoked at once. Raises NotFound, Conflict for one that has ended
    or was replaced already, InvalidInput.
    """
    check_holds_tokens(caller=caller)
    if not 0 <= overlap_hours <= OVERLAP_HOURS:
        detail = message("The overlap is 0 to {most} hours.", most=OVERLAP_HOURS)
        raise wrong_field(pointer="/overlap_hours", detail=detail)
    with audit.unit_of(caller):
        old = _locked(queries.own_tokens(caller=caller), token_id)
        _check_replaceable(old, now=now)
        view = token_view(old)
        check_lends(caller=caller, scopes=frozenset(view.scopes), projects=view.projects)
        longest = timedelta(days=queries.longest_token_days(caller=caller))
        issued = _issue(
            Token(
                organization_id=old.organization_id,
                user_id=old.user_id,
                name=old.name,
                kind=old.kind,
                scopes=old.scopes,
                projects=old.projects,
                source_interface=old.source_interface,
                created_at=now,
                expires_at=now + min(longest, old.expires_at - old.created_at),
            )
        )
        old.replaced_by_id = issued.token.id
        old.expires_at = min(old.expires_at, now + timedelta(hours=overlap_hours))
        old.revoked_at = None if overlap_hours else now
        old.save(update_fields=["replaced_by", "expires_at", "revoked_at"])
        _note(caller, "rotated", view, by=str(issued.token.id))
    return issued


def revoke_token(*, caller: Caller, token_id: UUID, now: datetime) -> TokenView:
    """End a token at once: one's own, or as a manager anybody's. Raises NotFound."""
    with audit.unit_of(caller):
        row = _locked(queries.visible(caller=caller), token_id)
        if row.revoked_at is None:
            row.revoked_at = now
            row.save(update_fields=["revoked_at"])
            _note(caller, "revoked", token_view(row))
    return token_view(row)


def note_use(
    *, row: Presented, text: str, agent: str, ip: str, hook: int | None, now: datetime
) -> bool:
    """Write when, from where and by what a token was last used, at most once a minute.

    `hook` is the version of the hook script that calls, if one does; another one than this process
    saw last is written at once.
    What is stored of it is made anew under the pepper of now, when that has changed.
    Returns True for its first use in each ten minutes, to one of several requests at once.
    """
    due, last = now - USE_INTERVAL, row.last_used_at or NEVER
    digest, known = peppers.digest(text=text), _hooks.get(row.id)
    is_changed = digest != row.digest or hook not in {None, known}
    if last > due and not is_changed:
        return False
    stored = Token.objects.filter(pk=row.id)
    changes: dict[str, Any] = {}
    if digest != row.digest:  # else the token may have been made again meanwhile
        changes["digest"] = digest
    if hook is not None:
        changes["last_used_hook"] = hook
    with tenancy.walled(organization_id=row.organization_id):
        if is_changed:
            stored.update(**changes)
        written = stored.filter(Q(last_used_at=None) | Q(last_used_at__lte=due)).update(
            last_used_at=now, last_used_ip=as_ip(text=ip) or None, last_used_agent=agent, **changes
        )
    _note_hook(row.id, hook)
    return written == 1 and _slot(last) != _slot(now)


def _note_hook(token_id: UUID, hook: int | None) -> None:
    if hook is None:
        return
    if len(_hooks) >= HOOKS_MOST:
        _hooks.clear()
    _hooks[token_id] = hook


def _slot(at: datetime) -> int:
    return int(at.timestamp()) // SEEN_SECONDS


def _note(caller: Caller, verb: str, token: TokenView, **more: str) -> None:
    details = {"of": str(token.user_id), "scopes": sorted(token.scopes), **more}
    audit.append(f"token.{verb}", "token", str(token.id), caller=caller, details=details)


def _issue(row: Token) -> IssuedToken:
    text = _mint(row)
    row.save(force_insert=True)
    return IssuedToken(text=text, token=token_view(row))


def _mint(row: Token) -> str:
    """Give a row a new text; return it."""
    minted = token_format.mint(
        kind=token_format.TokenKind(row.kind),
        entropy=secrets.token_bytes(token_format.ENTROPY_BYTES),
    )
    row.lookup = minted.lookup_id
    row.digest = peppers.digest(text=minted.text)
    row.last_four = minted.text[-4:]
    return minted.text


def _held(reach: Q, token_id: UUID) -> Token | None:
    rows = Token.objects.select_for_update(of=("self",)).select_related("user")
    return rows.filter(reach, pk=token_id).first()


def _locked(reach: Q, token_id: UUID) -> Token:
    row = _held(reach, token_id)
    if row is None:
        raise NotFound(
            detail="There is no such token.", hint="GET /api/v1/tokens lists those you can see."
        )
    return row


def _check_replaceable(old: Token, *, now: datetime) -> None:
    if old.revoked_at is None and old.expires_at > now and old.replaced_by_id is None:
        return
    raise Conflict(
        detail="This token has ended or was replaced already.", hint="Create a new token instead."
    )


def end_leaked(*, text: str, now: datetime) -> int:
    """End every living token that stands in a text; return how many there were."""
    return sum(_end_leaked(found, now) for found in set(token_format.TOKEN_PATTERN.findall(text)))


def _end_leaked(text: str, now: datetime) -> bool:
    try:
        parsed = token_format.parse(text=text)
    except InvalidToken:
        return False
    row = rls.present_token(lookup=parsed.lookup_id)
    if row is None or not peppers.is_of(stored=row.digest, text=parsed.text):
        return False
    if row.revoked_at is not None or row.expires_at <= now or not row.is_ready:
        return False
    with tenancy.enter(row.tenant), tenancy.unit():
        ended = Token.objects.filter(pk=row.id, revoked_at=None).update(revoked_at=now)
        if ended:
            details = {"of": str(row.user_id)}
            audit.append("token.leaked", "token", str(row.id), caller=FINDER, details=details)
            jobs.enqueue(TELL, payload={"token": str(row.id)}, key=str(row.id))
    return bool(ended)


def tell_owner(*, token_id: UUID) -> bool:
    """Tell the owner of a token of the entered organization that it leaked and was ended.

    Returns False when the token is no more, or where no mails are sent. Raises Unavailable when the
    mail server does not answer.
    """
    with tenancy.unit():
        row = Token.objects.select_related("user", "organization").filter(pk=token_id).first()
    if row is None:
        return False
    person = row.user
    context = {"token": row, "organization": row.organization, "name": person.name}
    try:
        return live.send_template(
            "leaked_token", language=person.language, to=person.email, context=context
        )
    except (SMTPException, OSError) as error:
        raise Unavailable(
            detail="The mail server does not answer.", hint="The mail is sent later."
        ) from error
