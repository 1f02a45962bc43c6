"""Which texts say the same in the same words."""

import pytest

from memory.records.restatements import first_of_same, restates, telling_words

BACKUP = "The backup of the store runs at two in the morning, before the pricing service."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BACKUP, "The backup of the store runs at 2 in the morning before the pricing service"),
        (BACKUP, BACKUP.replace("the store", "a store")),
        ("The API isn't public.", "the `API` is not public!"),
        ("Calls time out after 30 seconds.", "calls time out after 30s"),
        ("We can't deploy on Fridays.", "We cannot deploy on Fridays"),
        ("At most 1,000 rows; not more.", "At most 1000 rows, not more."),
        ("L\u2019API répond en trente secondes.", "L'API répond en 30 s"),
        ("Keep links of \u2265 0.6", "Keep links of >= 0.6"),
    ],
)
def test_ways_of_writing_do_not_count(old: str, new: str) -> None:
    assert restates(old=old, new=new)
    assert restates(old=new, new=old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BACKUP, BACKUP.replace("two", "four")),
        (BACKUP, BACKUP.replace("before", "after")),
        (BACKUP, BACKUP.replace("morning", "evening")),
        (BACKUP, BACKUP.replace("runs", "ran")),
        ("We prefer GraphQL over REST.", "We prefer REST over GraphQL."),
        ("The field is required.", "The field is optional."),
        ("Pass -v to the command.", "Pass -V to the command."),
        ("Export API_KEY first.", "Export api_key first."),
        ("Rename User to user.", "Rename user to User."),
        ("Set PATH there.", "Set path there."),
        ("It waits 5 s.", "It waits 5 min."),
        ("It takes 100 Mbps.", "It takes 100 MBps."),
        ("Keep x < 3.", "Keep x > 3."),
        ("Only if status != 200.", "Only if status = 200."),
        ("Only if x \u2260 3", "Only if x = 3"),
        ("Run *.py alone.", "Run .py alone."),
        ("It reads ../config first.", "It reads ./config first."),
        ("Wait .5s there.", "Wait 5s there."),
        ("Parts end in `;` there.", "Parts end in `,` there."),
        ("It returns [] there.", "It returns {} there."),
        ("Values of [0, 1) count.", "Values of (0, 1] count."),
        ("Retry 2**10 times.", "Retry 210 times."),
        ("It is limit - used.", "It is limit * used."),
        ("Cron is 0 2 * * *", "Cron is 0 * 2 * *"),
        ("Run git checkout -- main", "Run git checkout main"),
        ("Le délai est de 1,500 s", "Le délai est de 1500 s"),
        ("Open ports 80,443 there", "Open ports 80443 there"),
        ("Service A calls the API", "The service calls the API"),
        ("Il les supprime.", "Il la supprime."),
        ("La réponse est mise en cache.", "La réponse n'est pas mise en cache."),
    ],
)
def test_any_other_word_sign_or_order_is_another_statement(old: str, new: str) -> None:
    assert not restates(old=old, new=new)


@pytest.mark.parametrize(
    ("sign", "words"),
    [("*", 2), ("-", 2), ("`", 1), ("'", 2), (".", 2), ("1,000", 2), ("<", 2), ("n't ", 20_001)],
)
def test_long_runs_of_one_sign_are_read_word_by_word(sign: str, words: int) -> None:
    assert len(telling_words(text=f"{sign * 20_000} x")) == words


def test_the_first_of_the_same_is_named_and_another_order_of_words_is_not_the_same() -> None:
    early, late = "Run the tests before the build.", "Run the tests after the build."

    assert first_of_same(contents=()) == ()
    assert first_of_same(contents=(early, late, f"{early} ", "run a tests before the build")) == (
        0, 1, 0, 0,
    )  # fmt: skip
