"""How a statement changes an earlier one, and what changes nothing."""

from cProfile import Profile
from pstats import Stats

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import changes, statement_words
from memory.records.changes import Change


def compare(old: str, new: str) -> Change | None:
    """Compare two texts."""
    return changes.compare(old=statement_words.read(text=old), new=statement_words.read(text=new))


@pytest.mark.parametrize(
    ("old", "new", "kind", "before", "after"),
    [
        ("Uploads may have 20 MB at most.", "Uploads may have 50 MB at most.", "value", "20", "50"),
        ("It waits 30 seconds for Redis.", "It waits for Redis 2 minutes.", "value",
         "30 s", "2 min"),
        ("The queue listens on port 8080.", "The queue listens on port 9090.", "value",
         "8080", "9090"),
        ("We send mail through Postmark.", "We send mail through Mailgun.", "value",
         "postmark", "mailgun"),
        ("Backups are optional in staging.", "Backups are required in staging.", "opposite",
         "optional", "required"),
        ("Warm the cache before a deploy.", "Warm the cache after a deploy.", "opposite",
         "before", "after"),
        ("Old invoices of the shop are readable.", "Old invoices of the shop are unreadable.",
         "opposite", "readable", "unreadable"),
        ("The shop is written in Java.", "The shop is written in JavaScript.", "value",
         "java", "javascript"),
        ("The shop is linked to as HTTP.", "The shop is linked to as HTTPS.", "value",
         "http", "https"),
        ("Clients must send a key.", "Clients may send a key.", "opposite", "must", "may"),
        ("We prefer GraphQL over REST.", "We prefer REST over GraphQL.", "order",
         "graphql over rest", "rest over graphql"),
        ("The worker retries jobs.", "The worker does not retry jobs.", "denial", "", ""),
        ("Never log the card number.", "Log the card number.", "denial", "", ""),
        ("Le cache garde les prix 60 secondes.", "Le cache garde les prix 90 secondes.", "value",
         "60 s", "90 s"),
        ("Les alertes sont activées par défaut.", "Les alertes sont désactivées par défaut.",
         "opposite", "activées", "désactivées"),
        ("L'agent écrit dans la base.", "L'agent n'écrit pas dans la base.", "denial", "", ""),
    ],
)  # fmt: skip
def test_what_changed_is_named(old: str, new: str, kind: str, before: str, after: str) -> None:
    found = compare(old, new)

    assert found is not None
    assert (found.kind, found.old, found.new) == (kind, before, after)
    assert not found.is_announced
    assert not before or (before in found.description and after in found.description)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The cart service times out after 30 s.", "The price service times out after 60 s."),
        ("The timeout is 30 s in staging.", "The timeout is 60 s in production."),
        ("Ticket 311 is about slow logins.", "Ticket 415 is about slow logins."),
        ("Tag values are limited to 200 characters.", "Tag keys are limited to 32 characters."),
        ("It never deletes invoices.", "It never deletes customers."),
        ("Exports are disabled by default.", "Exports are not enabled by default."),
        ("It waits 30 seconds for Redis.", "It waits for Redis for thirty seconds."),
        ("By default the port is 80.", "The port is 80 by default."),
        ("Push to main.", "Push to main and open a pull request without a draft."),
        ("Retries: 5", "Timeout: 30"),
        ("Compare the shop with Etsy.", "Compare the shop with eBay."),
        ("Le service des prix a 3 répliques.", "Le service des paniers a 5 répliques."),
        ("A job is retried.", "Once a job was moved to the dead letters, it is not retried."),
        ("The voice is kept for 30 days.", "The invoice is kept for 30 days."),
        ("Logs of the voice are kept on disk.", "Logs of the invoice are kept on disk."),
        ("The import job writes its report.", "The export job writes its report."),
        ("Items stay in the log 30 days.", "Removed items stay in the log 30 days."),
        ("The port of the cart in tests is 80.", "The port of the shop in tests is 81."),
        ("", ""),
    ],
)
def test_other_subjects_other_words_and_additions_change_nothing(old: str, new: str) -> None:
    assert compare(old, new) is None
    assert compare(old, old) is None


@pytest.mark.parametrize(
    ("old", "new", "is_certain"),
    [
        ("Jobs run in Celery on two hosts.", "Jobs no longer run in Celery on two hosts.", True),
        ("Jobs run in Celery on two hosts.", "We replaced Celery: jobs run in RQ on hosts.", True),
        ("The API listens on port 80.", "The API now listens on port 81.", True),
        ("Docs are built with Hugo.", "The docs moved from Hugo to Astro last week.", True),
        ("The billing service uses Stripe for payments.",
         "The shop service no longer uses Stripe for payments.", False),
        ("Docs are built with Hugo.", "Our docs moved: they are built with Astro.", False),
        ("Docs are built with Hugo in CI.", "The search of the docs was renamed in CI.", False),
        ("Les docs sont construites avec Hugo.", "Les docs ne sont plus construites avec Hugo.",
         True),
    ],
)  # fmt: skip
def test_an_announced_change_is_certain_where_it_speaks_of_what_was_said(
    old: str, new: str, is_certain: bool
) -> None:
    found = compare(old, new)

    assert found is not None
    assert (found.is_announced, found.is_certain) == (True, is_certain)


def test_a_change_that_is_announced_of_nothing_that_was_said_changes_nothing() -> None:
    assert compare("Docs are built with Hugo.", "The port of the queue is now 81.") is None


def test_what_both_announce_is_no_news() -> None:
    old, new = "The watcher now writes a log.", "The runner now keeps a lock."

    assert compare(old, f"{new} It writes nothing.") is None


@pytest.mark.parametrize(
    ("old", "new", "adds"),
    [
        ("Refunds at Adyen take five days.", "Refunds at PayPal take five days.", True),
        ("Captures run before the nightly sync.", "Captures run after the nightly sync.", True),
        ("Run make lint, then make test.", "Run make lint, make test, then make docs.", True),
        ("Pay through Adyen, never through PayPal.", "Pay through PayPal.", True),
        ("It is not shared between tenants.", "It is shared between tenants.", True),
        ("Pass -v to the linter in CI.", "Pass -V to the linter in CI.", True),
        ("Webhooks come 11 times, then they are parked.", "webhooks come 11 times", False),
        ("It waits thirty seconds.", "It waits 30 s", False),
    ],
)
def test_a_text_adds_nothing_only_where_all_its_words_are_known(
    old: str, new: str, adds: bool
) -> None:
    assert changes.adds_nothing(old=old, new=new) is not adds


@given(old=st.text(), new=st.text())
def test_any_text_is_read_and_none_changes_itself(old: str, new: str) -> None:
    compare(old, new)

    assert compare(old, old) is None
    assert changes.adds_nothing(old=old, new=old)


@pytest.mark.parametrize("part", ["a, ", "1 ", "is gone ", "l'", "a-", "((", "if x ", "no "])
def test_a_long_text_costs_no_more_than_its_beginning(part: str) -> None:
    def calls(text: str) -> int:
        profile = Profile()
        profile.runcall(compare, text, text.replace("1", "2") + " not")
        functions = Stats(profile).get_stats_profile().func_profiles.values()
        return sum(int(one.ncalls.split("/")[0]) for one in functions)

    assert calls(part * 100_000) <= 1.1 * calls(part * 4_000)
