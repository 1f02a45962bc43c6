"""Statements that differ enough for every gate, to be remembered one beside the other."""

from typing import Final

STATEMENTS: Final = (
    "Search the order index by customer number, never by name.",
    "The nightly export stops when the disk holds less than two gigabytes.",
    "Feature switches are read once at the start of a request.",
    "Invoices are rounded per line and not per total since March.",
    "The mail relay drops attachments above twelve megabytes without a word.",
    "Run the geometry tests with a fixed seed, or they flicker on Tuesdays.",
    "Passwords of partners expire every ninety days by contract.",
    "The scheduler owns the lease; a worker must never renew it itself.",
)
SUBJECTS: Final = (
    "billing", "checkout", "search", "gateway", "scheduler", "reporting", "inventory", "identity",
)  # fmt: skip
HABITS: Final = (
    "retries three times before it pages anyone",
    "keeps its cache warm through the night",
    "writes a journal that auditors read in June",
    "refuses connections while a migration runs",
    "needs a restart after its certificate changes",
    "drops the oldest messages when its queue is full",
    "answers from a replica that lags two seconds",
)


def numbered(*, number: int) -> str:
    """Return a statement that no other number has and that no neighbor resembles closely."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    habit = HABITS[number // len(SUBJECTS) % len(HABITS)]
    return f"Service {subject} of region r{number} {habit}, says runbook {number * 7_919 % 10_007}."
