"""Intake: how anything comes to be remembered, by `actions/remember.py: remember()`.

1. *Prepare*, outside of a transaction: check fields and place (`candidate.py`, `validation.py`),
   find secrets, classify (`classify.py`), embed where that is fast.
2. *Load* similar memories (`similar_memories.py`), inside of one transaction from here on.
3. *Gates* refuse or confirm (`integrate.py`); an echo of what was given counts for nothing
   (`similar_memories.py: find_echo()`, `rules.py`).
4. *Decide*: add, update, take back, or a conflict for a person (`integrate.py`).
5. *Write* rows, links, audit, change feed and action log together (`apply_decision.py`).
6. *After commit*: vectors, and what a bulk call could not compare, are jobs
   (`apply_decision.py: integrate_stored()`).
"""
