"""What a change of a memory has to pass: that it is active, as it was read, and not protected."""

from typing import Final

from accounts.caller import Caller, decides_in_person, is_person
from accounts.errors import FieldError, InvalidInput, PreconditionFailed
from accounts.messages import message
from memory.errors import NotActive, ProtectedMemory
from memory.records.models import Memory, MemoryLink
from memory.secrets import scanner
from memory.taxonomy import (
    Authority,
    Governance,
    LinkKind,
    SourceInterface,
    Status,
    Verification,
    may_be_forgotten_by_agent,
)
from memory.text.text import check_text

LONGEST_REASON: Final = 200  # characters, the column's


def check_active(*, row: Memory) -> None:
    """Return when a memory can still change. Raises NotActive."""
    if row.status != Status.ACTIVE:
        raise NotActive(
            detail=message("This memory is {status}.", status=Status(row.status)),
            hint="Restore it first, or work with the memory that replaced it.",
        )


def check_version(*, row: Memory, if_version: int | None) -> None:
    """Check that a locked memory is the version a writer has read, where they named one.

    Raises PreconditionFailed when it has changed since.
    """
    if if_version not in {None, row.version}:
        raise PreconditionFailed(
            detail=message(
                "The memory is at version {number}, not {asked}.",
                number=row.version,
                asked=if_version,
            ),
            hint="Read it again, merge your change, and send it with the new ETag.",
        )


def check_reason(*, reason: str) -> None:
    """Check the text that says why something was changed. Raises InvalidInput."""
    errors: list[tuple[str, str]] = []
    if kind := check_text(text=reason):
        errors.append((message("The text has a {kind} character.", kind=kind), "text"))
    if len(reason) > LONGEST_REASON:
        errors.append((message("Use at most {most} characters.", most=LONGEST_REASON), "length"))
    if fault := scanner.fault_of(text=reason):
        errors.append((fault, "secret"))
    if errors:
        raise InvalidInput(
            detail=errors[0][0],
            hint="Correct the named fields and send it again.",
            errors=tuple(
                FieldError(pointer="/reason", detail=detail, code=code) for detail, code in errors
            ),
        )


def is_author(*, caller: Caller, row: Memory) -> bool:
    """Say whether the caller, or the person it acts for, wrote a memory."""
    return caller.user_id is not None and row.author_user == caller.user_id


def must_propose(*, caller: Caller, row: Memory) -> bool:
    """Say whether what a caller would put in the place of a memory waits for a person.

    So it is for agents where a person said or verified it, it is pinned, or a layer or a tag
    protects it, whoever the agent acts for. What a person imports in person is no agent's doing.
    """
    is_import = caller.token_id is None and caller.source_interface == SourceInterface.IMPORT
    is_persons = is_import and is_author(caller=caller, row=row)
    return not (is_persons or decides_in_person(caller=caller) or _is_free(row))


def check_agent_may_change(*, caller: Caller, row: Memory) -> None:
    """Return unless an agent would add to what only people may. Raises ProtectedMemory.

    Nothing is forgotten by an addition: an agent may add for the person it acts for.
    """
    if not (is_author(caller=caller, row=row) or _is_unprotected(caller, row)):
        raise _protected()


def check_agent_may_forget(*, caller: Caller, row: Memory) -> None:
    """Return unless an agent would let go of what it may not forget. Raises ProtectedMemory."""
    if not may_forget(caller=caller, row=row):
        raise _protected()


def may_forget(*, caller: Caller, row: Memory) -> bool:
    """Say whether a caller may let go of what a memory says.

    What `must_propose` names an agent forgets only where it wrote it itself, as long as no person
    has vouched for it and it supersedes nothing.
    """
    if not must_propose(caller=caller, row=row):
        return True
    is_own = row.author_agent == caller.agent and is_author(caller=caller, row=row)
    supersedes = MemoryLink.objects.filter(source=row, kind=LinkKind.SUPERSEDES.value)
    return is_own and not _is_vouched(row) and not supersedes.exists()


def _is_vouched(row: Memory) -> bool:
    """Say whether a person said or verified it."""
    is_verified = row.user_verified or row.verification == Verification.VERIFIED
    return is_verified or (row.authority == Authority.HUMAN and not row.author_agent)


def _is_free(row: Memory) -> bool:
    free = may_be_forgotten_by_agent(governance=Governance(row.governance), tags=tuple(row.tags))
    return free and not (row.pinned or _is_vouched(row))


def _is_unprotected(caller: Caller, row: Memory) -> bool:
    free = may_be_forgotten_by_agent(governance=Governance(row.governance), tags=tuple(row.tags))
    return free or is_person(caller=caller)


def _protected() -> ProtectedMemory:
    return ProtectedMemory(
        detail="This memory is protected; an agent may not change it.",
        hint="Send what is right instead with POST /api/v1/memories/{id}/correct: it waits for a "
        "person, who decides. Or ask a person to change it in the dashboard.",
    )
