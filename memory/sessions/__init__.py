"""Sessions of agents: what was said, what was done, and the state that is made of it.

A session belongs to who opened it, or to its project when it is shared. It has two streams: turns
(what somebody said) and events (what the agent did). Both are scanned for secrets before anything
is stored, and no model is asked while an agent waits.

From events to a state, in this order:

1. `event_parsing` reads rows leniently into `events.Event`; `actions/append_events` stores them.
2. `reducers` applies events by their sequence numbers, one function a kind. It is pure and gives
   the same `scratchpad` in any batching and order of arrival.
3. `tools` reads each call as one of ten acts with a target. For commands `shell` parses the line by
   the grammar of bash, and `external_content` says what it brings into view from outside of the
   repository. From the first such event on, everything is tainted, whatever it says: filters of
   content do not stop an injection that was stored, where a text came from does.
4. `actions/scratchpads` keeps the state as a checkpoint. It spares reading events again and is
   never the truth: what cannot be read, or came too late for it, is folded anew.

What the state shows, and what becomes a memory, is decided above, in `memory.observer`.

`counters` are sums over sessions (files, pairs of files, errors, modules): rows that only grow by
adding, stored in one table by kind, place, day and key (`counter_rows`), so sessions that end
at once lose nothing of each other.

`actions/lifecycle` opens and ends sessions, `queries` reads them and searches what was said, and
`actions/trust` keeps how far a person trusts what their agents' sessions came to.

Start with `actions/append_events`, then `reducers`.
"""
