"""What agents do, read as behavior: events → fold → checkpoint → detect → promote.

`memory.sessions` stores events and folds them into a scratchpad. This subject looks at scratchpads:

1. `actions/session_findings` finds what a session has shown. While the session goes on it keeps a
   checkpoint and notes what is urgent; nothing becomes a memory then, except from a long build,
   piece by piece.
2. `detect` finds the signals in a scratchpad; its `FINDERS` list them. `error_fixes` holds the one
   that teaches most, `file_signals` and `effort_signals` the others, `dead_ends` what was given up,
   `tied_corrections` what a person said right after a command.
   `detections` says by one table what each is worth, and how many
   sessions must show it. What people rejected of a signal lowers its worth; two agents that saw
   the same are witnesses of each other.
3. `promotion` decides: the gate of the session's type, frequency over sessions, taint, confidence.
   Dead ends, failures of QA, commits and what the running product showed (`evidence_texts`) come in
   beside the signals. It puts them into words by template.
4. `actions/offers` compares candidates with what is stored, decides whether one waits for a person
   (`proposed_memory`, by `teams.trust.waits`), and sends them through the one door of intake. Where
   a candidate came from is its origin, so nothing is offered twice. A model may phrase better,
   within a budget; without one, templates speak, and the session says so.
5. `actions/finalize` does all of this at the end of a session, in one unit of effects: memories
   that wait for review, sums over sessions (`detect`, `actions/prior_sessions`), and what the
   session is said to have shown (`promotion`). A worker that is killed has done nothing.

Beside it: `actions/consolidate` takes what is worth keeping from turns; `actions/synthesize` makes
memories that only many sessions together justify; `actions/unit_completion` does what a methodology
does at its end; `actions/raise_alarms` looks for planted memories; `queries` draws the steps of a
session, and finds known dead ends that it entered.

Decisions: rules are pure and given everything; a session is counted as a whole and once, so it does
not matter in how many pieces it came; what rests on outside content waits for a person.

Start with `actions/finalize`, then `detect` and `promotion`.
"""
