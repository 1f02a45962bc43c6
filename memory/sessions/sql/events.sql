-- name: last
-- The last number of a session's events, none without one: the last entry of the index memory_turn_once
-- for it, so no row is counted.
SELECT max(sequence) FROM memory_turn WHERE session_id = %(session)s AND stream = %(done)s

-- name: append
-- Store the events of a batch under a session that the caller holds, which is open again with them. What
-- checkpoints hold already is looked at again where an event came late: they go, by memory_turn_once, one
-- at most. Returns one row: whether one went.
WITH added AS (
    INSERT INTO memory_turn (session_id, stream, sequence, role, text, body, masked, at)
    SELECT %(session)s, %(done)s, e.sequence, '', '', e.body, e.masked, e.at
    FROM json_to_recordset(%(events)s::json)
        AS e(sequence integer, body jsonb, masked smallint, at timestamptz)),
gone AS (
    DELETE FROM memory_turn
    WHERE session_id = %(session)s AND stream = %(checkpoint)s AND sequence >= %(first)s
    RETURNING id)
UPDATE memory_agentsession
SET events = events + %(count)s,
    folded = CASE WHEN EXISTS (SELECT FROM gone) THEN 0 ELSE folded END,
    state = 'open', active_at = %(now)s, ended_at = NULL
WHERE id = %(session)s
RETURNING EXISTS (SELECT FROM gone)
