"""The memory itself: its row, versions, links and views, and the verbs of one memory.

Flow of a verb (`actions`): lock the visible row → check who may (`protection`) → write it with its
version (`writes.save`, which also syncs what searches read) → tell the change feed → one audit
entry, all in one transaction. What comes in is checked, placed and revised by `memory.intake`; what
people decide about waiting memories is `memory.review`'s, except the confirmation that ends a wait.

Decisions: reads go through `queries.views.visible`, so what one may not see does not exist. A
version keeps what was said before a change and who could see it then. Confidence and importance
are computed from stored bases and dates (`formulas`), never multiplied in place.

Start with `models`, then `actions.archive`, then `queries.views`.
"""
