"""Check plans and diffs against what the project knows, before they are work.

The flow, in order:

1. `actions.py` takes a plan or a diff, masks secrets in it, and reads it: `work.py` makes the steps
   of a plan and the changed places of a unified diff, which it reads strictly, into parts.
2. Each part is searched for with the calibrated search, which says what is relevant; the best hit
   is relevant too where it is near at all (`actions.py: CLOSEST`), and no other is evidence.
   Memories about the touched files are looked up by name. What the caller may not see, what waits
   for review and what is tainted is never evidence.
3. `check_findings.py` is pure: it decides what stops the work, what calls for caution, what to
   note, and the verdict. No model is asked.
4. Files that sessions touch together with those of the work are added.

Decisions:

- A memory warns only where its own words, and not merely its subject or a name, meet a part that
  the search finds it relevant to, or that is about a file of it; else every memory about “the cart”
  would stop every change of the cart. What only touches a step is a note; notes about a touched
  file come first. Thresholds are fitted on the train half of the labelled checks
  (`tests/bench/bench_checks.py`).
- Nothing of the work is stored, and of what was found only ids go to the access log.
- The reader of diffs is our own: unidiff neither unquotes paths of git nor notices a diff that was
  cut short.

Start reading at `actions.py: run_check`.
"""
