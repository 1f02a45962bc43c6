"""Trust over REST: one's own, nobody else's; an agent never raises it."""

from datetime import datetime
from uuid import UUID, uuid4

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.records.models import Memory
from teams.trust import TrustLevel
from tests.support.api import Api
from tests.support.trusting import stand

SAID = "Rounding in the cart is half to even, so totals differ from invoices by a cent."


def test_it_says_where_one_stands_and_what_is_missing(api: Api) -> None:
    found = api.get("projects/shop/trust").json()

    assert (found["level"], found["injects_from_confidence"], found["asking"]) == (
        "cautious", 0.8, "each",
    )  # fmt: skip
    assert (found["next"]["sessions_to_go"], found["next"]["confirmations_to_go"]) == (3, 1)
    assert found["open_to"] == ["cautious", "autonomous"]


def test_nobody_is_told_the_level_of_somebody_else(
    api: Api, member_api: Api, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        stand(member_caller, "shop", TrustLevel.CONFIDENT, now)

    theirs = member_api.get("projects/shop/trust").json()
    mine = api.get("projects/shop/trust").json()
    told = api.get("audit").content.decode()

    assert (theirs["level"], mine["level"]) == ("confident", "cautious")
    assert "confident" not in told


def test_a_token_lowers_its_persons_level_and_does_not_raise_it(
    member_api: Api, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        stand(member_caller, "shop", TrustLevel.CONFIDENT, now)

    lowered = member_api.call("PUT", "projects/shop/trust", {"level": "standard"})
    raised = member_api.call("PUT", "projects/shop/trust", {"level": "confident"})

    assert (lowered.status_code, raised.status_code) == (200, 403)
    assert lowered.json()["is_chosen"] is True
    assert raised.json()["hint"]


def test_what_is_no_level_is_refused(api: Api) -> None:
    for body in ({}, {"level": "boundless"}, {"level": 2}, {"levels": "cautious"}):
        answer = api.call("PUT", "projects/shop/trust", body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"].startswith("/level")


def test_a_brief_gives_from_the_confidence_of_the_level_and_never_what_is_tainted_or_waits(
    api: Api, caller: Caller, now: datetime
) -> None:
    id = api.remember(SAID)["id"]
    sure = {"confidence": 0.99}
    for level, least in (
        (TrustLevel.CAUTIOUS, 0.80),
        (TrustLevel.AUTONOMOUS, 0.45),
    ):
        with entered(caller):
            stand(caller, "shop", level, now)

        assert SAID not in briefed(api, caller, id, confidence=least - 0.01)
        assert SAID in briefed(api, caller, id, confidence=least)
        assert SAID not in briefed(api, caller, id, **sure, taint_reason="web: evil.example")
        assert SAID not in briefed(api, caller, id, **sure, needs_review=True)


def briefed(api: Api, caller: Caller, memory_id: str, **fields: object) -> str:
    """Change a memory, begin a session about it, and return what its agent is given."""
    fields = {"taint_reason": "", "needs_review": False, **fields}
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=memory_id).update(**fields)
        index_queries.sync_filters(memory_ids=(UUID(memory_id),))
    asked = {"event": "prompt", "prompt": SAID, "project": "shop", "session": str(uuid4())}
    text: str = api.post("hooks/generic", asked).json().get("context", "")
    return text
