"""Review: people decide about what waits, settle conflicts, correct, undo and roll back.

What waits is a condition on memories (`records.queries.pending`): tainted, stale, imported or newly
proposed. Nothing is decided by itself; a verdict of the inbox is one transaction that writes down
how every memory it touches was (`records.actions`), so that undoing restores it exactly
and refuses once somebody has changed one of them.

    actions.verdicts        keep, reject, snooze, merge, unlink, from one table; undo one or a call
    actions.bulk            the same for many memories, or for all that a session came to
    actions.corrections     a new memory takes the place of a wrong one
    actions.settlements     settle, reopen and snooze conflicts of two memories
    actions.rollback        take back what a writer, a session or a time produced
    actions.entity_merges   two names are one thing
    queries.inbox           what waits, what was decided, what a session came to
    queries.conflicts       conflicts as the caller may see them, and who may settle them
    queries.rollback_plan   what a rollback reaches, and what becomes of it
    queries.overview        figures of a project, its alarms and what needs attention

Decisions:

- Who proposed a memory does not approve it, and nobody but a person lifts a taint. The rules are in
  `records.queries.pending` and `queries.conflicts`; pages, REST and agents ask the same functions.
- Everything passes the visibility of the caller. A conflict is shown to who sees both sides, and
  the feed and the log name it with the side that fewer people see.
- Memories are locked in the order of their ids, conflicts before memories, so that two people who
  decide at once wait for each other instead of failing.
- Confirming a waiting memory anywhere keeps it, so verdicts are written down below, in records.

Start with `queries.inbox.list_waiting` and `actions.verdicts`.
"""
