"""Experiments: what memory changes, measured by sessions that go without it.

The flow, in order:

1. *Groups.* A session is in the control group, the passive or the full one, by a keyed hash
   (`points.py`), assigned when it could first be given something. From some sessions single
   memories are withheld (`actions/measurement.py`).
2. *Measures.* At its end a session gets its figures and each delivered memory an outcome
   (`actions/measurement.py`, rules in `figures.py`).
3. *Comparison.* `sql/session_sums.sql` adds up, `queries.py` reports what the reader may know,
   `uplift.py` compares with intervals.
4. *Consequences.* Memories that surely harm are demoted at night; weights of types in phases are
   learned (`phase_learning.py`) and approved by a person (`actions/consequences.py`).

Decisions:

- No claim below twenty sessions on either side. Of many comparisons in a night the intervals hold
  together (Dunn 1961), because among many some look bad by chance.
- Sums of sessions that the reader does not see are shown only over enough sessions of several
  people, and nobody alone can demote what all share.
- Nobody is asked and no model reads: what events do not show is unknown and counts on no side.

Start reading at `uplift.py`.
"""
