-- name: weeks
-- What the measured sessions of each place came to, by the week (UTC, from Monday) in which they were
-- opened: how many, how many were given memories, were given two that disagree, met an error, met one
-- that an earlier session of the place had met, and entered a known dead end again. Looks through all
-- sessions since `before`, once a week; a row a place and week. Of memories only those count that
-- whoever sees the session sees too.
WITH measured AS MATERIALIZED (
    SELECT s.id, s.audience, s.project_id, s.scope, s.opened_at,
           coalesce((s.figures ->> 'dead_ends')::int, 0) AS reentered
    FROM memory_agentsession AS s
    WHERE s.figures IS NOT NULL AND s.project_id IS NOT NULL
      AND s.opened_at >= %(before)s AND s.opened_at < %(until)s),
errors AS MATERIALIZED (
    SELECT s.id, s.audience, s.project_id, s.opened_at, e.key
    FROM measured AS s JOIN memory_turn AS t ON t.session_id = s.id AND t.stream = %(counted)s
    CROSS JOIN LATERAL jsonb_object_keys(coalesce(t.body -> %(error)s, '{}'::jsonb)) AS e (key)),
earliest AS (
    SELECT audience, project_id, key, min(opened_at) AS at FROM errors GROUP BY 1, 2, 3),
failed AS (
    SELECT e.id, bool_or(f.at < e.opened_at) AS is_repeated
    FROM errors AS e
    JOIN earliest AS f ON (f.audience, f.project_id, f.key) = (e.audience, e.project_id, e.key)
    GROUP BY 1),
disagreeing AS (
    SELECT DISTINCT s.id
    FROM measured AS s
    JOIN memory_givenout AS g ON g.session_id = s.id AND NOT g.withheld
    JOIN memory_memorylink AS l ON l.source_id = g.memory_id AND l.kind = ANY(%(disagreeing)s)
    JOIN memory_givenout AS o
      ON o.session_id = s.id AND o.memory_id = l.target_id AND NOT o.withheld
    JOIN memory_memory AS a ON a.id = l.source_id
    JOIN memory_memory AS b ON b.id = l.target_id
    WHERE s.scope = 'personal' OR (a.scope = ANY(%(shared)s) AND b.scope = ANY(%(shared)s)))
SELECT s.audience, s.project_id, date_trunc('week', s.opened_at AT TIME ZONE 'UTC')::date,
       count(*),
       count(*) FILTER (WHERE EXISTS (
           SELECT 1 FROM memory_givenout AS g WHERE g.session_id = s.id AND NOT g.withheld)),
       count(d.id), count(f.id), count(*) FILTER (WHERE f.is_repeated), sum(s.reentered)
FROM measured AS s LEFT JOIN failed AS f ON f.id = s.id LEFT JOIN disagreeing AS d ON d.id = s.id
WHERE s.opened_at >= %(since)s
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
