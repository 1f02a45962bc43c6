"""What is asked beside memories: close names, what was said, what models cost."""

from datetime import datetime
from decimal import Decimal

from django.conf import LazySettings

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, TokenScope
from memory.extraction.actions import Spent, book_use
from tests.support.api import READ_WRITE, Api, agent

NAMED = ("The `ConnectionBroker` waits for a lock.", "The `ConectionBroker` is slow at night.")
AT = "entities/close?name=ConnectionBroker"


def test_another_spelling_is_suggested_with_its_reason(api: Api) -> None:
    for text in NAMED:
        api.remember(text)

    told = api.get(AT).json()
    asked_in = api.get(f"{AT}&project=shop&kind={told['entity']['kind']}").json()

    assert told["entity"]["name"] == "ConnectionBroker"
    assert [(one["entity"]["name"], one["reason"]) for one in told["items"]] == [
        ("ConectionBroker", "misspelled")
    ]
    assert asked_in == told
    assert api.get("entities/close?name=Nowhere").json() == {"entity": None, "items": []}
    assert api.get(f"{AT}&project=vault").status_code == 404
    long = f"name={'x' * 121}"
    for wrong in ("", "name=", long, "name=a%00b", "name=x&kind=purple", "name=x&q=1"):
        assert api.get(f"entities/close?{wrong}").status_code == 422


def test_nobody_learns_of_a_name_by_asking_for_what_is_close(
    api: Api, member_api: Api, other_api: Api
) -> None:
    api.remember(NAMED[0])
    api.remember(NAMED[1], scope="personal")
    api.post("projects", {"slug": "cellar"})
    hidden = {"entity": None, "items": []}

    assert len(api.get(AT).json()["items"]) == 1
    seen = member_api.get(AT).json()
    assert (seen["entity"]["name"], seen["items"]) == ("ConnectionBroker", [])
    assert member_api.get("entities/close?name=ConectionBroker").json() == hidden
    assert other_api.get(AT).json() == hidden
    for project in ("cellar", "nowhere"):
        assert other_api.get(f"{AT}&project={project}").status_code == 404


TURNS = [{"role": "user", "text": f"The lock number {number} is advisory."} for number in range(3)]


def test_turns_are_read_and_found_page_by_page_and_deleted_with_a_receipt(
    caller: Caller, api: Api
) -> None:
    session = str(api.post("sessions", {"thread": "carts"}).json()["id"])
    api.post(f"sessions/{session}/turns", {"turns": TURNS})

    def pages(path: str) -> list[dict[str, object]]:
        first = api.get(path).json()
        rest = api.get(f"{path}&cursor={first['next_cursor']}").json()
        assert (len(first["items"]), rest["next_cursor"]) == (2, None)
        return [*first["items"], *rest["items"]]

    read = pages(f"sessions/{session}/turns?limit=2")
    found = pages("history?query=advisory&thread=carts&limit=2")
    reviews = agent(caller, READ_WRITE | {TokenScope.REVIEW})
    told = reviews.delete(f"sessions/{session}?memories=delete")

    assert [one["text"] for one in read] == [one["text"] for one in TURNS]
    assert [(one["sequence"], one["session_id"]) for one in found] == [
        (number, session) for number in (3, 2, 1)
    ]
    receipt = told.json()
    assert (told.status_code, receipt["session_id"]) == (200, session)
    assert (receipt["turns"], receipt["memories_deleted"]) == (3, 0)
    assert api.get(f"sessions/{session}").status_code == 404
    assert api.get("history?query=advisory").json()["items"] == []


def test_a_token_to_write_deletes_its_session_and_no_memories(caller: Caller, api: Api) -> None:
    writes = agent(caller)
    session = writes.post("sessions", {"thread": "carts"}).json()["id"]

    fates = ("delete", "keep")
    told = [writes.delete(f"sessions/{session}?memories={fate}").status_code for fate in fates]

    assert told == [403, 200]


WRONG = {  # a question, and the field that is named
    "history?query=%3F%21": "/query",
    "history?query=lock&how=near": "/how",
    "history?query=lock&session=nonsense": "/session",
    "history?thread=carts": "/query",
    **{
        f"usage?month={month}": "/month"
        for month in ("2026-13", "novembe", "2026-1x", "9999-12", "0001-01")
    },
}


def test_a_wrong_question_is_explained(api: Api) -> None:
    for asked, pointer in WRONG.items():
        answer = api.get(asked)

        assert (asked, answer.status_code) == (asked, 422)
        assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]


SPENT = Spent(model="openai/small", calls=1, input_tokens=7, output_tokens=3)


def test_money_is_exact_and_summed_three_ways(
    api: Api, caller: Caller, now: datetime, settings: LazySettings
) -> None:
    settings.CAIRN_MODEL_PRICES = {"openai/small": (Decimal("0.1"), Decimal("0.2"))}
    with entered(caller), tenancy.unit():
        for _ in range(3):
            book_use(spent=SPENT, project_id=None, now=now)

    told = api.get(f"usage?month={now:%Y-%m}").json()

    assert (told["tokens"], told["cost"], told["cost_per_accepted"]) == (30, "0.0000039", None)
    part = {"calls": 3, "fallbacks": 0, "tokens": 30, "cost": "0.0000039"}
    assert told["days"] == [{"name": now.date().isoformat(), **part}]
    assert told["projects"] == [{"name": "", **part}]
    assert told["models"] == [{"name": "openai/small", **part}]
