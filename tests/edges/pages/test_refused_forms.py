"""Forms that cannot be meant: refused where they stand with what is wrong, and nothing is written.

What nobody may write for want of a role is refused by the table of writes (tests.edges.audit).
"""

import re
from typing import Any, Final
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.authentication import entered
from accounts.models import User
from tests.edges.audit import world
from tests.edges.audit.world import World
from tests.support import stored

STATEMENT: Final = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
DIFF: Final = "--- a/shop/prices.ts\n+++ b/shop/prices.ts\n@@ -1,3 +1,4 @@\n+// cached\n"
SCRUM: Final = {
    "name": "kanban", "phase": ["ready", "doing"], "is": ["define", "implement"], "from": "ready",
    "to": "doing", "passes": "story", "type": "story", "base": "requirement", "says": "A need.",
}  # fmt: skip
SETTINGS: Final = {"name": "Web", "description": "Kept here.", "version": "1"}
HEADING: Final = re.compile(r"<main.*?<h1[^>]*>(.*?)</h1>", re.DOTALL)
KEEPS: Final = {"verdict": "keep"}
TOKEN: Final = {"name": "x", "scope": "read"}


def plan(text: str = "1. Go.", file: bytes | None = None, kind: str = "plan") -> dict[str, Any]:
    """Return a plan that is checked, pasted or as a file."""
    given = {} if file is None else {"file": SimpleUploadedFile("a", file)}
    return {"kind": kind, "text": text, **given}


Refusal = tuple[dict[str, Any], int, str]  # what is sent, the status, what the page says
REFUSED: Final[dict[str, tuple[Refusal, ...]]] = {
    "p/shop/check": (
        (plan(" \n"), 422, "There is nothing to check."),
        (plan("---"), 422, "This plan has no step in words."),
        (plan("a" * 100_001), 422, "Use at most 100000 characters."),
        (plan("a letter", kind="diff"), 422, "This is no unified diff"),
        (plan(DIFF, kind="diff"), 422, "cut short or changed"),
        (plan(file=b"1. Go."), 422, "You sent both a text and a file."),
        (plan("", b"a\x00b"), 422, "unstorable"),
        (plan("", b"a" * 4_000_001), 413, "4000001 bytes"),
    ),
    "p/shop/conflicts/{conflict}": (
        ({"verdict": "both", "version": "1"}, 422, "Say why, in a few words."),
        ({"reason": "So.", "version": "1"}, 422, "Choose what is kept."),
        ({"verdict": "both", "reason": "So.", "version": "7"}, 412, "was changed meanwhile"),
        ({"verdict": "both", "reason": "So."}, 412, "was changed meanwhile"),
        ({"verdict": "edit", "reason": "So.", "version": "1"}, 422, "Write what is right instead"),
    ),
    "p/shop/inbox/conflicts/{conflict}/snooze": (({"for": "ever"}, 422, "until which to snooze"),),
    "p/shop/inbox/bulk": (
        ({"verb": "keep"}, 422, "There is nothing to do."),
        ({"verb": "burn", "memory": "{waiting}"}, 422, "There is nothing to do."),
        ({"memory": "no-id"}, 422, "no valid id"),
        ({"whole": "1", "verb": "keep"}, 422, "Type the number of memories."),
        ({"whole": "1", "verb": "keep", "count": "7000"}, 409, "4 wait here now, not 7000."),
    ),
    "p/shop/inbox/{waiting}/merge": (
        ({}, 422, "Pick the memory"),
        ({"into": "x"}, 422, "no valid id"),
    ),
    "p/shop/inbox/{memory}/reject": (({}, 409, "not waiting for review"),),
    "p/shop/memories/bulk": (
        ({"verb": "confirm"}, 422, "There is nothing to do."),
        ({"verb": "delete", "memory": "{memory}"}, 422, "There is nothing to do."),
        ({"verb": "confirm", "memory": "no-id"}, 422, "no valid id"),
        ({"verb": "confirm", "memory": ["{memory}", str(UUID(int=1))]}, 404, "Page not found"),
    ),
    "p/shop/memories/{linked}/unlink": (
        ({}, 422, "There is no such link."),
        ({"kind": "extend"}, 422, "There is no such link."),
        ({"other": "x", "kind": "extend"}, 422, "no valid id"),
        ({"other": str(UUID(int=1))}, 422, "There is no such link."),
    ),
    "p/shop/entities/about?name=LoginGate": (({"same_as": "Nowhere"}, 404, "has this name"),),
    "p/shop/sessions/{session}/decide": (
        ({}, 422, "There is nothing to decide."),
        ({"verdict": "nothing"}, 422, "There is nothing to decide."),
        (KEEPS, 422, "There is nothing to decide."),
        ({**KEEPS, "memory": "x"}, 422, "no valid id"),
        ({**KEEPS, "memory": str(UUID(int=7, version=4))}, 422, "came to no such memory"),
        *(
            ({"verdict": "all", "count": one}, 422, "The number of memories is missing.")
            for one in ("", "٣", "9" * 12)
        ),
    ),
    "p/shop/sessions/{session}/delete": (({"typed": "x"}, 422, "The text does not match."),),
    "p/shop/teach": (
        ({"content": ""}, 422, "0 characters"),
        ({"content": "ok"}, 422, "2 characters"),
        ({"content": STATEMENT, "type": "nothing"}, 422, STATEMENT),
        ({"content": STATEMENT, "scope": "galaxy"}, 422, STATEMENT),
        ({"content": "a\x00b is a statement with a null in it."}, 422, "cannot be stored (NUL)"),
    ),
    "p/shop/notes": (
        ({"path": "../mill.md", "text": "<b>nine"}, 422, "&lt;b&gt;nine"),
        ({"path": "a.md", "text": "<b>nine", "scope": "banana"}, 422, "&lt;b&gt;nine"),
        ({"path": "a.md", "text": "<b>nine", "scope": "organization"}, 422, "&lt;b&gt;nine"),
    ),
    "p/shop/imports/{import}/change": (
        ({"verb": "burn"}, 422, "This action does not exist."),
        ({"verb": "take_back", "review": "x"}, 422, "There is no such verdict of yours."),
        ({"verb": "reject", "count": "3"}, 409, "1 wait here now, not 3."),
    ),
    "p/shop/experiments/change": (({"control_percent": "seven"}, 422, "a number from 0 to 50."),),
    "p/shop/experiments/weights": (({"verdict": "perhaps"}, 422, "approve, decline, undo."),),
    "p/shop/rollback": (
        ({"session": "<b>x"}, 422, "This is not a valid id."),
        ({"since": "<b>x"}, 422, "This is not a valid date and time."),
    ),
    "p/shop/settings": (
        ({**SETTINGS, "name": ""}, 422, "Kept here."),
        ({**SETTINGS, "relevance_threshold": "1.5"}, 422, "Kept here."),
        ({**SETTINGS, "relevance_threshold": "nan"}, 422, "Kept here."),
        ({**SETTINGS, "relevance_threshold": "much"}, 422, "Kept here."),
        ({**SETTINGS, "version": "7"}, 412, "Kept here."),
        ({**SETTINGS, "version": ""}, 412, "Kept here."),
    ),
    "p/shop/settings/gates": (
        ({"minimum_length": "20.5", "version": "1"}, 422, 'value="20.5"'),
        ({"near_duplicate_cosine": "0.1", "version": "1"}, 422, 'value="0.1"'),
        ({"conflict_cosine": "nan", "version": "1"}, 422, 'value="nan"'),
        ({"novelty_cosine": "much", "version": "1"}, 422, 'value="much"'),
    ),
    "p/shop/settings/extraction": (
        ({"max_llm_calls_per_turn": "many", "version": "1"}, 422, 'value="many"'),
    ),
    "p/shop/settings/openness": (({"verb": "lock"}, 422, "This action does not exist."),),
    **{
        address: (
            ({"verb": "add", "person": "stranger@globex.test"}, 404, "There is no such member."),
            ({"verb": "remove", "person": "nobody"}, 422, "There is no such person."),
            ({"verb": "promote", "person": "member@acme.test"}, 422, "This action does not exist."),
        )
        for address in ("p/shop/settings/people", "settings/teams/{team}/people")
    },
    "projects/new": (
        *(
            ({"name": "Shop", "slug": slug}, 422, "cannot be a short name")
            for slug in ("Shop!", "", "a" * 65)
        ),
        ({"name": "Shop", "slug": "shop"}, 409, "is taken"),
    ),
    "settings/general": tuple(
        ({"name": "Acme", "keep_events_days": days}, 422, "Events are kept 1 to 365 days.")
        for days in ("0", "366", "-1", "many", "9" * 30)
    ),
    "settings/teams": (
        ({"name": "Core", "slug": "core"}, 409, "is taken"),
        ({"name": "Core", "slug": "Core!"}, 422, "cannot be a short name"),
    ),
    "settings/tokens/new": (
        ({**TOKEN, "name": ""}, 422, "The name needs 1 to 80"),
        ({**TOKEN, "scope": "", "days": "9"}, 422, "at least one scope"),
        ({**TOKEN, "days": "9999"}, 422, "lives 1 to 365 days"),
    ),
    "settings/jobs/{failed_job}": (
        ({"verb": "cancel"}, 409, "has changed in the meantime"),
        ({"verb": "explode"}, 422, "This action does not exist."),
    ),
    "settings/models": (
        ({"verb": "switch", "key": "nobody/knows"}, 422, "No embedder is called"),
        ({"verb": "switch", "key": ""}, 422, "There is no such model."),
        ({"verb": "drop", "key": "hashing/words-384"}, 409, "is in use"),
        ({"verb": "nonsense"}, 422, "There is no such model."),
    ),
    "settings/methodologies": tuple(
        ({**SCRUM, **wrong}, 422, says)
        for wrong, says in (
            ({"base": "nothing"}, "no such type of memory"),
            ({"on_complete": "nothing"}, "No methodology does this"),
            ({"is": ["nothing", "nothing"]}, "none of the six phases"),
            ({"phase": ["doing", "doing"]}, "A phase is named once."),
            ({"from": "x" * 21}, "from one stage to another"),
            ({"phase": []}, "1 to 50 phases"),
        )
    ),
    "settings/styles": (
        ({"name": "No Name!", "text": "Code first.", "interface": "cursor"}, 422, "No Name!"),
    ),
    "/me": (
        ({"language": "xx"}, 422, "Language cannot be that."),
        ({"theme": "pink"}, 422, "Theme cannot be that."),
        ({"name": "a" * 101}, 422, "Name cannot be that."),
    ),
}


def test_a_form_that_cannot_be_meant_is_refused_where_it_stands(
    acme: World, subtests: pytest.Subtests
) -> None:
    told, first = world.written(), User.objects.get(email="owner@acme.test")
    with entered(acme.caller):
        before = stored.rows()
    for address, refusals in REFUSED.items():
        path = address if address[0] == "/" else f"/o/acme/{address}".format(**acme.names)
        for sent, status, says in refusals:
            form = {name: _filled(acme, value) for name, value in sent.items()}
            with subtests.test(f"{address}: {sent}"[:120]):
                answer = acme.browsers["owner"].post(path, form)

                assert answer.status_code == status
                assert says in answer.text
                heading = HEADING.search(answer.text)  # of a page of its own
                is_own_page = heading is not None and says in heading[1]
                assert 'role="alert"' in answer.text or is_own_page
    assert world.written() == told
    with entered(acme.caller):
        assert stored.rows() == before
    owner = User.objects.get(email="owner@acme.test")
    assert (owner.name, owner.language, owner.theme) == (first.name, first.language, first.theme)


def _filled(acme: World, value: Any) -> Any:
    """Return a value with the names of the world in it."""
    if isinstance(value, list):
        return [one.format(**acme.names) for one in value]
    return value.format(**acme.names) if isinstance(value, str) else value
