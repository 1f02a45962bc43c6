"""Names of things in memories: found by patterns on every write, by a statistical reader at night.

`rules` finds spans, `names` turns them into keys, `queries` stores them as mentions. An entity
has no row of its own, so nobody learns of one by what they may not read. `accurate` decides what
of the statistical reader is believed, `close_names` which names may be one thing, `queries`
groups what people said is one. `actions` are the two jobs that read names again. Start with
`rules`.
"""
