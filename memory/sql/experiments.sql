-- name: groups
-- The sums of each figure in each group of a project's sessions since a moment, of those that the
-- reader may see, or of all: by the index memory_session_compared; at most 18 rows. The figure '' counts
-- the sessions, also those that told nothing.
SELECT s.experiment_group, coalesce(f.key, ''), count(*),
       coalesce(sum(f.value::numeric), 0)::float8, coalesce(sum(f.value::numeric ^ 2), 0)::float8
FROM memory_agentsession AS s
CROSS JOIN LATERAL (
    SELECT key, value FROM jsonb_each_text(s.figures) UNION ALL SELECT '', '0') AS f
WHERE s.project_id = %(project)s AND s.experiment_group IN ('control', 'passive', 'full')
  AND s.opened_at >= %(since)s AND s.figures IS NOT NULL AND (%(everyone)s OR {visible})
GROUP BY 1, 2
ORDER BY 1, 2

-- name: memories
-- The sums of each figure of the sessions that were given a memory and of those from which it was
-- withheld, since it was withheld first, of sessions as above: by memory_session_compared and
-- memory_given_session; `most` memories, the most often withheld.
WITH compared AS MATERIALIZED (
    SELECT g.memory_id, g.withheld, g.at, s.figures
    FROM memory_agentsession AS s JOIN memory_givenout AS g ON g.session_id = s.id
    WHERE s.project_id = %(project)s AND s.experiment_group IN ('control', 'passive', 'full')
      AND s.opened_at >= %(since)s AND s.figures IS NOT NULL AND (%(everyone)s OR {visible})),
tested AS (
    SELECT memory_id, min(at) AS since FROM compared WHERE withheld
    GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %(most)s)
SELECT c.memory_id, c.withheld, f.key, count(*),
       coalesce(sum(f.value::numeric), 0)::float8, coalesce(sum(f.value::numeric ^ 2), 0)::float8
FROM tested AS t JOIN compared AS c ON c.memory_id = t.memory_id AND c.at >= t.since
CROSS JOIN LATERAL (
    SELECT key, value FROM jsonb_each_text(c.figures) UNION ALL SELECT '', '0') AS f
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
