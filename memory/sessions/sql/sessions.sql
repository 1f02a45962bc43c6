-- name: history
-- Turns that hold all words of a question, newest first, by the index memory_turn_words; `exact` asks
-- for the question itself in them, letter by letter, which only those can hold. At most `most` rows,
-- behind the place where a page ended. Texts come as a piece around the first word that was found.
SELECT t.id, t.session_id, t.sequence, t.role, t.masked, t.at, s.thread, p.slug, s.agent,
       length(t.text),
       greatest(1, found.place - %(before)s),
       substr(t.text, greatest(1, found.place - %(before)s), %(length)s)
FROM memory_turn AS t
JOIN memory_agentsession AS s ON s.id = t.session_id
LEFT JOIN teams_project AS p ON p.id = s.project_id
CROSS JOIN LATERAL (
    SELECT coalesce(
        nullif(strpos(lower(t.text), lower(%(query)s)), 0),
        nullif(strpos(lower(t.text), lower(%(first)s)), 0), 1) AS place) AS found
WHERE t.words @> said_words(%(query)s)
  AND (NOT %(exact)s
       OR strpos(lower(normalize(t.text, NFKC)), lower(normalize(%(query)s, NFKC))) > 0)
  AND {visible}
  AND (%(project)s::uuid IS NULL OR s.project_id = %(project)s::uuid)
  AND (%(session)s::uuid IS NULL OR t.session_id = %(session)s::uuid)
  AND (%(thread)s::text IS NULL OR s.thread = %(thread)s::text)
  AND (%(role)s::text IS NULL OR t.role = %(role)s::text)
  AND (%(at)s::timestamptz IS NULL OR (t.at, t.id) < (%(at)s::timestamptz, %(id)s::bigint))
ORDER BY t.at DESC, t.id DESC
LIMIT %(most)s

-- name: of_program
-- The open session of a caller's program in which something happened last, with its unit of work: one that
-- the person opened, or the credential that nobody stands behind, under the same token or by the same agent.
-- Of a project by its slug or id, looked for among the program's last few. By memory_session_open, a few rows.
SELECT s.id, s.work_unit
FROM (
    SELECT id, work_unit, project_id, active_at FROM memory_agentsession
    WHERE state = 'open'
      AND CASE WHEN %(person)s::uuid IS NULL
          THEN token_id = %(token)s::uuid ELSE opened_by = %(person)s::uuid END
      AND (token_id = %(token)s::uuid OR (agent = %(agent)s AND agent <> ''))
    ORDER BY active_at DESC, id
    LIMIT %(most)s) AS s
LEFT JOIN teams_project AS p ON p.id = s.project_id
WHERE %(project)s::text IS NULL OR p.id = %(project_id)s::uuid OR p.slug = %(project)s::text
ORDER BY s.active_at DESC, s.id
LIMIT 1

-- name: last
-- The first and last numbers of a session's events, and the last that hooks gave, none without one: entries
-- of the index memory_turn_once for it, so no row is counted.
SELECT (SELECT min(sequence) FROM memory_turn WHERE session_id = %(session)s AND stream = %(done)s),
       (SELECT max(sequence) FROM memory_turn WHERE session_id = %(session)s AND stream = %(done)s),
       (SELECT max(sequence) FROM memory_turn WHERE session_id = %(session)s AND stream = %(done)s
        AND sequence BETWEEN %(first)s AND %(end)s)

-- name: adopt
-- Give events that hooks told, under a session that the caller holds, the numbers and words that a transcript
-- has for them; what was given stays behind the same event. By memory_turn_once and memory_given_session, a row
-- each. Checkpoints that hold what moves go; returns how many events the one before them holds.
WITH told AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(events)s::json)
        AS e(old integer, sequence integer, body jsonb, masked smallint, at timestamptz)),
moved AS (
    UPDATE memory_turn AS t
    SET sequence = told.sequence, body = told.body, masked = told.masked, at = told.at
    FROM told WHERE t.session_id = %(session)s AND t.stream = %(done)s AND t.sequence = told.old),
given AS (
    UPDATE memory_givenout AS g SET after_event = told.sequence
    FROM told WHERE g.session_id = %(session)s AND g.after_event = told.old),
gone AS (
    DELETE FROM memory_turn
    WHERE session_id = %(session)s AND stream = %(checkpoint)s AND sequence >= %(first)s)
UPDATE memory_agentsession SET folded = coalesce((
    SELECT (c.body ->> 'folded')::integer FROM memory_turn AS c
    WHERE c.session_id = %(session)s AND c.stream = %(checkpoint)s AND c.sequence < %(first)s
    ORDER BY c.sequence DESC LIMIT 1), 0)
WHERE id = %(session)s
RETURNING folded

-- name: told
-- What a transcript told last of calls, and of what was said since a moment: the last `most` of its lines, by the
-- index memory_turn_once from its end, so the length of a session does not count; and of its subagents the last in
-- time, since their numbers are in blocks: their rows are read, of at most 50,000 of a session.
SELECT t.body ->> 'kind', t.body ->> 'call', t.body ->> 'text'
FROM ((SELECT body, at FROM memory_turn
       WHERE session_id = %(session)s AND stream = %(done)s AND sequence < %(first)s
       ORDER BY sequence DESC LIMIT %(most)s)
      UNION ALL
      (SELECT body, at FROM memory_turn
       WHERE session_id = %(session)s AND stream = %(done)s AND sequence > %(end)s
       ORDER BY at DESC, sequence DESC LIMIT %(most)s)) AS t
WHERE t.body ->> 'call' = ANY (%(calls)s::text[])
   OR (t.body ->> 'kind' = ANY (%(spoken)s::text[]) AND t.at >= %(since)s)

-- name: append
-- Store the events of a batch under a session that the caller holds, which is open again with them. What
-- checkpoints hold already is looked at again where an event came late: they go, by memory_turn_once, two
-- at most. Returns one row: whether one went, and how many events the one before it holds.
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
    folded = CASE WHEN EXISTS (SELECT FROM gone) THEN coalesce((
        SELECT (c.body ->> 'folded')::integer FROM memory_turn AS c
        WHERE c.session_id = %(session)s AND c.stream = %(checkpoint)s AND c.sequence < %(first)s
        ORDER BY c.sequence DESC LIMIT 1), 0) ELSE folded END,
    state = 'open', active_at = %(now)s, ended_at = NULL
WHERE id = %(session)s
RETURNING EXISTS (SELECT FROM gone), folded

-- name: fold_given
-- Leave that memories were given out to whom, and forget in which session: by memory_given_session.
INSERT INTO memory_givenout AS g (memory_id, person, token, at)
SELECT memory_id, person, token, max(at) FROM memory_givenout
WHERE session_id = %(session)s AND NOT withheld GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (memory_id, person, token, session_id, agent, compacted_at)
DO UPDATE SET at = greatest(g.at, excluded.at)

-- name: drop_notes
-- The last message of each error of a place, which may be of this session; names of files and modules
-- stay, because they are what is counted.
UPDATE memory_statistic SET counts = counts - 'notes'
WHERE audience = %(audience)s AND project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND kind = 'observed_error' AND updated_at >= %(since)s AND counts ? 'notes'

-- name: add
-- Add to many sums in one statement, by the index memory_statistic_once; a row a place, day and key.
-- Numbers add up, decimals that are written as text too and stay exact; of `notes` the newer stands.
-- Who adds to the same row waits for it, and rows come in one order, so nothing is lost or locked up.
INSERT INTO memory_statistic AS s (kind, audience, project_id, day, key, counts, updated_at)
SELECT r.kind, r.audience, r.project_id, r.day, r.key, r.counts, %(now)s
FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS r(kind text, audience uuid, project_id uuid, day date, key text, counts jsonb)
ORDER BY r.kind, r.audience, r.project_id, r.day, r.key COLLATE "C"
ON CONFLICT (kind, audience, project_id, day, key) DO UPDATE
SET updated_at = greatest(s.updated_at, excluded.updated_at),
    counts = s.counts || coalesce((
        SELECT jsonb_object_agg(n.key, CASE
            WHEN jsonb_typeof(n.value) = 'number' AND jsonb_typeof(s.counts -> n.key) = 'number'
                THEN to_jsonb((s.counts ->> n.key)::numeric + (n.value #>> '{}')::numeric)
            WHEN jsonb_typeof(n.value) = 'string' AND jsonb_typeof(s.counts -> n.key) = 'string'
                THEN to_jsonb(
                    trim_scale((s.counts ->> n.key)::numeric + (n.value #>> '{}')::numeric)::text)
            ELSE n.value END)
        FROM jsonb_each(excluded.counts) AS n), '{}')

-- name: drop_zeros
-- Sums of a place from which all was taken back, and names of others that came to nothing, so that it is
-- as if nobody had ever added to them: by memory_statistic_once, a row a kind and key.
WITH lowered AS (
    SELECT s.id, jsonb_object_agg(n.key, n.value) FILTER (WHERE n.value <> '0') AS counts,
           bool_or(n.key <> 'notes' AND n.value <> '0') AS is_left
    FROM unnest(%(kinds)s::text[], %(keys)s::text[]) AS r(kind, key)
    JOIN memory_statistic AS s USING (kind, key), jsonb_each(s.counts) AS n
    WHERE s.audience = %(audience)s AND s.day IS NULL
      AND s.project_id IS NOT DISTINCT FROM %(project)s::uuid
    GROUP BY s.id),
gone AS (DELETE FROM memory_statistic AS s USING lowered AS l WHERE s.id = l.id AND NOT l.is_left)
UPDATE memory_statistic AS s SET counts = l.counts FROM lowered AS l
WHERE s.id = l.id AND l.is_left AND s.counts <> l.counts

-- name: model_use
-- What text models cost in some days, of one project or of all: by the index memory_statistic_kind; a
-- row. Sums only: whom they are told is decided by who asks.
SELECT coalesce(sum((s.counts ->> 'calls')::bigint), 0),
       coalesce(sum((s.counts ->> 'fallbacks')::bigint), 0),
       coalesce(sum((s.counts ->> 'input_tokens')::bigint), 0),
       coalesce(sum((s.counts ->> 'output_tokens')::bigint), 0),
       coalesce(sum((s.counts ->> 'cost')::numeric), 0)
FROM memory_statistic AS s
WHERE s.kind = 'model_use' AND s.day BETWEEN %(since)s AND %(until)s
  AND (%(everywhere)s OR s.project_id IS NOT DISTINCT FROM %(project)s::uuid)

-- name: model_use_days
-- What each text model cost on each of some days, of one project or of all, newest first: by the index
-- memory_statistic_kind; a row a day, project and model.
SELECT s.day, s.project_id, s.key, s.counts
FROM memory_statistic AS s
WHERE s.kind = 'model_use' AND s.day BETWEEN %(since)s AND %(until)s
  AND (%(everywhere)s OR s.project_id IS NOT DISTINCT FROM %(project)s::uuid)
ORDER BY s.day DESC, s.project_id NULLS FIRST, s.key, s.id
LIMIT %(most)s
