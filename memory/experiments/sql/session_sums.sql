-- name: groups
-- The sums of each figure in each group of a project's sessions since a time, of those that the
-- reader may see and, apart from them, of the others: by the index memory_session_compared; at most 36
-- rows. The figure '' counts the sessions, also those without figures; the last column people.
SELECT s.experiment_group, coalesce(f.key, ''),
       coalesce(sum(f.value::numeric), 0)::float8, coalesce(sum(f.value::numeric ^ 2), 0)::float8,
       {visible}, count(*), count(DISTINCT coalesce(s.opened_by, '00000000-0000-0000-0000-000000000000'::uuid))
FROM memory_agentsession AS s
CROSS JOIN LATERAL (
    SELECT key, value FROM jsonb_each_text(s.figures) UNION ALL SELECT '', '0') AS f
WHERE s.project_id = %(project)s AND s.experiment_group IN ('control', 'passive', 'full')
  AND s.opened_at >= %(since)s AND s.figures IS NOT NULL AND (%(everyone)s OR {visible})
GROUP BY 1, 2, 5
ORDER BY 1, 2, 5

-- name: searches
-- How many rankings of a project gave something since a day, in how many the graph took part, and in
-- how many it changed the first eight; of those of the reader and, apart from them, of others: by the
-- index memory_statistic_kind, a row a person and day; two rows. The last column counts people.
SELECT sum((s.counts ->> 'took_part')::bigint)::bigint, sum((s.counts ->> 'changed')::bigint)::bigint,
       {visible}, sum((s.counts ->> 'searches')::bigint)::bigint, count(DISTINCT s.audience)
FROM memory_statistic AS s
WHERE s.kind = 'graph_part' AND s.project_id = %(project)s
  AND s.day >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
  AND (%(everyone)s OR {visible})
GROUP BY 3
ORDER BY 3

-- name: memories
-- The sums of each figure of the sessions that were given a memory and of those from which it was
-- withheld, since it was withheld first, of sessions as above: by memory_session_compared and
-- memory_given_session; `most` memories, the most often withheld.
WITH compared AS MATERIALIZED (
    SELECT g.memory_id, g.withheld, g.at, s.figures, {visible} AS is_seen,
           coalesce(s.opened_by, '00000000-0000-0000-0000-000000000000'::uuid) AS opener
    FROM memory_agentsession AS s JOIN memory_givenout AS g ON g.session_id = s.id
    WHERE s.project_id = %(project)s AND s.experiment_group IN ('control', 'passive', 'full')
      AND s.opened_at >= %(since)s AND s.figures IS NOT NULL AND (%(everyone)s OR {visible})),
tested AS (
    SELECT memory_id, min(at) AS since FROM compared WHERE withheld
    GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %(most)s)
SELECT c.memory_id, c.withheld, f.key,
       coalesce(sum(f.value::numeric), 0)::float8, coalesce(sum(f.value::numeric ^ 2), 0)::float8,
       c.is_seen, count(*), count(DISTINCT c.opener)
FROM tested AS t JOIN compared AS c ON c.memory_id = t.memory_id AND c.at >= t.since
CROSS JOIN LATERAL (
    SELECT key, value FROM jsonb_each_text(c.figures) UNION ALL SELECT '', '0') AS f
GROUP BY 1, 2, 3, 6
ORDER BY 1, 2, 3, 6

-- name: shared_memories
-- What a night may decide by: the sums as above of the project's own memories, of sessions
-- whose evidence is everybody's. Of a shared memory those that are not personal, and of each figure of
-- a side at least `openers` people have, none more than half as often as all the others together, so
-- nobody alone decides; which of theirs are left out follows no order that they could choose. Of a
-- personal memory its owner's sessions, since nobody else is given it. The last column counts people.
WITH compared AS MATERIALIZED (
    SELECT g.memory_id, g.withheld, g.at, s.id, s.figures, m.scope = 'personal' AS is_own,
           coalesce(s.opened_by, '00000000-0000-0000-0000-000000000000'::uuid) AS opener
    FROM memory_agentsession AS s JOIN memory_givenout AS g ON g.session_id = s.id
    JOIN memory_memory AS m ON m.id = g.memory_id AND m.project_id = s.project_id
    WHERE s.project_id = %(project)s AND s.experiment_group IN ('control', 'passive', 'full')
      AND s.opened_at >= %(since)s AND s.figures IS NOT NULL
      AND CASE WHEN m.scope = 'personal' THEN s.opened_by = m.audience
               ELSE s.scope <> 'personal' END),
tested AS (
    SELECT memory_id, min(at) AS since FROM compared WHERE withheld
    GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %(most)s),
counted AS (
    SELECT c.memory_id, c.withheld, c.is_own, c.opener, f.key, f.value::numeric AS value,
           row_number() OVER (
               PARTITION BY c.memory_id, c.withheld, f.key, c.opener ORDER BY md5(c.id::text)
           ) AS place,
           count(*) OVER (PARTITION BY c.memory_id, c.withheld, f.key)
           - count(*) OVER (PARTITION BY c.memory_id, c.withheld, f.key, c.opener) AS others
    FROM tested AS t JOIN compared AS c ON c.memory_id = t.memory_id AND c.at >= t.since
    CROSS JOIN LATERAL (
        SELECT key, value FROM jsonb_each_text(c.figures) UNION ALL SELECT '', '0') AS f)
SELECT memory_id, withheld, key, sum(value)::float8, sum(value ^ 2)::float8,
       is_own, count(*), count(DISTINCT opener)
FROM counted WHERE is_own OR place <= others / 2
GROUP BY memory_id, withheld, key, is_own HAVING is_own OR count(DISTINCT opener) >= %(openers)s
ORDER BY 1, 2, 3

-- name: outcomes
-- What came of the memories that ended sessions of a project since a time were given, by phase and
-- type, of sessions and memories that the reader sees and, apart from them, of others: by the indexes
-- memory_session_phases and memory_given_session. What was unknown is left out. Rows without a type
-- count sessions and people of all: each session once, as seen where any of it is.
WITH counted AS MATERIALIZED (
    SELECT s.id, s.methodology, s.phase, m.type, g.outcome,
           {visible} AND {visible_memory} AS is_seen,
           coalesce(s.opened_by, '00000000-0000-0000-0000-000000000000'::uuid) AS opener
    FROM memory_agentsession AS s
    JOIN memory_givenout AS g ON g.session_id = s.id
    JOIN memory_memory AS m ON m.id = g.memory_id
    WHERE s.project_id = %(project)s AND s.opened_at >= %(since)s AND s.phase <> ''
      AND g.outcome IN ('used', 'ignored', 'wrong') AND NOT g.withheld
      AND (%(everyone)s OR {visible} AND {visible_memory})),
sessions AS (
    SELECT id, opener, bool_or(is_seen) AS is_seen, count(*) AS given,
           count(*) FILTER (WHERE outcome = 'used') AS used
    FROM counted GROUP BY 1, 2)
SELECT methodology, phase, type, count(*), count(*) FILTER (WHERE outcome = 'used'),
       is_seen, count(DISTINCT id), count(DISTINCT opener)
FROM counted GROUP BY 1, 2, 3, 6
UNION ALL
SELECT NULL, NULL, NULL, sum(given)::bigint, sum(used)::bigint,
       is_seen, count(*), count(DISTINCT opener)
FROM sessions GROUP BY is_seen
ORDER BY 1, 2, 3, 6
