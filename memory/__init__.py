"""The product: memories are learned, kept, found, given to agents and forgotten.

What it is for. Each folder is a subject and holds all that belongs to it: tables, SQL, queries,
actions and rules. Its own page, in its `__init__.py`, says how it works. Rows are in the schema of
one organization; `accounts.tenancy` enters it, and `teams.visibility` is in every read.

The subjects, in the order in which a memory meets them:

1. *Learn.* `sessions` stores what agents say and do. `observer` finds in their deeds, and
   `extraction` in their words, what may be worth keeping. `documents` imports files and notes.
2. *Take in.* `intake` is the only way in: gates, duplicates, updates and conflicts. `secrets` finds
   secrets, `entities` and `topics` say what a memory is about, `index` makes its vector.
3. *Keep.* `records` is the memory itself: versions, links, confirming, archiving, scores. `review`
   is the inbox: conflicts, verdicts, undo and rollback. `customization` holds what an
   organization has of its own: types, methodologies, styles.
4. *Give.* `search` finds and ranks, or is silent. `injection` decides what agents are given without
   asking, and logs it. `checks` compares plans and diffs with what is known.
5. *Delete.* `erasure` deletes a memory, a session or what one person alone can see for good.
6. *Measure.* `experiments` compares sessions with memory and without; `evaluation` measures search
   and extraction on judged sets.

Below them: `providers` (models of vendors and of this machine), `text` (pure) and `taxonomy.py`,
whose tables say what a memory can be. Above them are the edges: `api`, `mcp`, `management`, `tasks`
for background work, and `client`, which runs beside the agent and imports nothing else of ours.

Decisions.
- A subject imports only those below it, in the order of the contracts in `pyproject.toml`.
- Inside a subject actions may import queries, both may import models, and rules are pure.
- No model is asked inside a transaction. What takes long is a job that runs after the commit.
- Nothing is overwritten: a change is a version, and what is replaced stays and says by what.
- No foreign key leaves the schema of an organization, so it can be moved to another server.

Start reading at `intake/actions/remember.py: remember()` and `search/actions.py: search()`.
"""
