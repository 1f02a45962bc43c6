"""The program whose acknowledged writes must survive kills: `-m tests.support.crash_program`.

`found` makes an organization; `write` stores a memory for each line of standard input and prints
it when it is acknowledged, trying again when a server was away; `missing` prints what the store
lacks of the acknowledged memories read from standard input.
"""

import json
import sys
from datetime import UTC, datetime
from threading import Event
from typing import Any

import django

django.setup()

from django.db import DatabaseError, connection  # noqa: E402

from accounts import tenancy  # noqa: E402
from accounts.caller import Caller, Role  # noqa: E402
from accounts.errors import CairnError  # noqa: E402
from accounts.models import Organization, User  # noqa: E402
from memory.actions.remember import NewMemory, remember  # noqa: E402
from memory.actions.search import SearchRequest, search  # noqa: E402
from memory.models import Memory, MemoryVector  # noqa: E402
from tests.support import operator, people  # noqa: E402

operator.install()
PAUSE_SECONDS = 0.2
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def found() -> None:
    """Make the organization and its owner."""
    organization = people.make_organization(slug="crash")
    people.make_person(organization=organization, email="o@crash.test", role=Role.OWNER)


def write() -> None:
    """Store a memory for each line read, and print it as a line of JSON when acknowledged."""
    with people.entered(organization=Organization.objects.get(slug="crash")):
        caller = _caller()
        for number, _ in enumerate(sys.stdin):
            content = f"Lesson {_spelled(number)}: valve {_spelled(number)} opens to the left."
            sys.stdout.write(json.dumps(_acknowledged(caller, content)) + "\n")
            sys.stdout.flush()


def missing() -> None:
    """Print how many acknowledged memories have no row, no vector, or are not found by search."""
    acknowledged = [json.loads(line) for line in sys.stdin]
    with people.entered(organization=Organization.objects.get(slug="crash")):
        caller = _caller()
        with tenancy.unit():
            rows = {str(key) for key in Memory.objects.values_list("id", flat=True)}
            vectors = {str(key) for key in MemoryVector.objects.values_list("memory_id", flat=True)}
        unfound = [item for item in acknowledged if not _is_found(caller, item)]
    ids = {item["id"] for item in acknowledged}
    lacks = {"rows": len(ids - rows), "vectors": len(ids - vectors), "found": len(unfound)}
    sys.stdout.write(json.dumps({**lacks, "unasked": len(rows - ids)}))


def _caller() -> Caller:
    organization = Organization.objects.get(slug="crash")
    owner = User.objects.get(email="o@crash.test")
    return people.as_caller(organization=organization, user=owner, role=Role.OWNER)


def _acknowledged(caller: Caller, content: str) -> dict[str, str]:
    new = NewMemory(content=content, source="user_taught", scope="organization")
    while True:
        try:
            outcome = remember(caller=caller, new=new, now=datetime.now(UTC))
        except (DatabaseError, CairnError):
            connection.close()
            Event().wait(PAUSE_SECONDS)
            continue
        if outcome.memory is None:
            raise SystemExit(f"{content!r} was refused: {outcome.reason}")
        return {"id": str(outcome.memory.id), "content": content}


def _is_found(caller: Caller, item: dict[str, str]) -> bool:
    request = SearchRequest(query=item["content"], limit=3, threshold=0.0)
    answer = search(caller=caller, request=request, now=datetime.now(UTC))
    return item["id"] in {str(hit.memory.id) for hit in answer.hits}


def _spelled(number: int) -> str:
    return "".join(NUMBERS[int(digit)] for digit in str(number))


COMMANDS: dict[str, Any] = {"found": found, "write": write, "missing": missing}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]]()
