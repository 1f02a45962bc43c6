"""Intake: how anything comes to be remembered, by `actions/remember.py: remember()`.

1. *Prepare*, outside of a transaction: check fields and place (`candidate.py`, `validation.py`),
   find secrets, classify (`classify.py`), embed where that is fast.
2. *Load* similar memories (`similar_memories.py`), inside of one transaction from here on.
3. *Gates* refuse or confirm (`integrate.py`): a duplicate ends here, in
   `remember.py: settle_without_adding()`; an echo of what was given counts for nothing
   (`similar_memories.py: find_echo()`, `echoes_and_alarms.py`).
4. *Decide*: add, update, take back, or a conflict for a person (`integrate.py`).
5. *Write* the row and its audit (`remember.py`), links, conflicts and the action log
   (`apply_decision.py`), in one transaction.
6. *After commit*: vectors, and what a bulk call could not compare, are jobs
   (`apply_decision.py: integrate_stored()`).

Bulk calls go by `actions/remember.py: remember_all()`. Each item meets the same gates, but there
are no vectors yet: near duplicates and conflicts are found by the job that makes them.

Whether a candidate waits for a person is decided by who proposes it, and `NewMemory.needs_review`
says so; `echoes_and_alarms.py` has the alarms that make one wait. A candidate with a secret is
refused and not masked, so that who sends it learns where the secret is.
"""
