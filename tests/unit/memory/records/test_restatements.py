"""Which texts say the same in the same words, and which are quotations of others."""

import pytest

from memory.records.restatements import quotes, restates, telling_words

BACKUP = "The backup of the store runs at two in the morning, before the pricing service."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BACKUP, "Backup of the store runs at 2 in the morning before the pricing service"),
        ("The API isn't public.", "the `API` is not public"),
        ("Calls time out after 30 seconds.", "Calls **time out** after 30s"),
        ("We can't deploy on Fridays!", "We cannot deploy on Fridays."),
        ("At most 1,000 rows \u2014 not more.", "At most 1000 rows, not more"),
        ("L\u2019API répond en trente secondes.", "La API répond en 30 s."),
        ("It's \u201ccached\u201d", "It is cached"),
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
        ("It waits 5 s.", "It waits 5 min."),
        ("It takes 10 Mb.", "It takes 10 MB."),
        ("Keep x < 3.", "Keep x > 3."),
        ("Run *.py alone.", "Run .py alone."),
        ("La réponse est mise en cache.", "La réponse n'est pas mise en cache."),
    ],
)
def test_any_other_word_or_order_is_another_statement(old: str, new: str) -> None:
    assert not restates(old=old, new=new)


def test_a_text_without_words_restates_nothing() -> None:
    assert telling_words(text=" \u2014 ... the () ") == ()
    assert not restates(old="...", new="...")


@pytest.mark.parametrize(
    ("said", "is_quoted"),
    [
        (BACKUP, True),
        ("The backup runs at two in the morning.", False),  # without the “before” that limits it
        ("The backup runs at two in the morning, before the pricing service.", True),
        ("The backup of the store runs at four in the morning, before the pricing service.", False),
        ("The pricing service runs before the backup of the store.", False),
        ("The backup runs", False),
    ],
)
def test_a_quotation_leaves_out_no_limit(said: str, is_quoted: bool) -> None:
    assert quotes(old=BACKUP, new=said) is is_quoted
