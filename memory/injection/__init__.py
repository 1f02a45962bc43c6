"""What agents are given unasked, when, and the log of it.

The flow, in order:

1. *Trigger point.* An agent's program reports an event (`actions/hooks.py` stores and answers it),
   or a caller names a point of a session (`actions/trigger_points.py`): the first prompt, a touched
   file, a plan, or a step. Payloads of programs become one `HookEvent` in `harnesses.py`; a new
   program is an entry in `tables/harnesses.toml`.
2. *Policy.* `actions/policy.py` alone decides whether anything may be given at the point and how
   sure it must be: hooks of the project, pauses, the group of the session in an experiment, the
   trust level of the person.
3. *Candidates.* Each point finds its own: `brief.py` what a search for the task finds, what is
   always included, and what the stage before hands over; `session_start.py` unfinished work and
   files to read first; `planner_context.py` what a plan should know; touched files their warnings.
4. *Selection.* `rules.py` is pure: few memories, fresh, relevant, within the tokens of
   the point; `actions/deliver.py` leaves out what is tainted, waits for review, or is one side of a
   contradiction alone, and has `memory.search.packing` write the rest as text.
5. *Delivery log.* `actions/delivery_log.py` stores each delivered memory with its tokens in the
   unit in which it was chosen, while the session is locked. So nothing is delivered twice, and sums
   are those of the texts.

Decisions:

- Silence is the default. One brief a session, then only warnings of files just touched; the other
  triggers between steps are for projects that switch them on.
- Between steps no model is asked: 50 ms allow one lookup by words.
- A program waits for 2.5 seconds. What is not ready by then is not delivered, and not logged.
- A subagent has a context of its own: it is warned, not briefed, and its deliveries do not count
  for the main agent. An agent whose context was compacted is warned of a file once more.
- Files to read first rest on what sessions read. A read that follows a suggestion does not count
  as a habit (`rules.unprompted`), or a plan that is obeyed would keep itself.

Start reading at `actions/deliver.py`.
"""
