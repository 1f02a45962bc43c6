-- name: spaces
-- The models an organization has vectors of, or makes them of, with how many of the memories that
-- need one have it; a few rows, one pass over the vectors, for a page that is seldom opened.
SELECT e.id, e.key, e.dimensions, e.active, e.filling, e.chosen, e.overlap, e.activated_at,
       (SELECT count(*) FROM memory_memoryvector AS v
        JOIN memory_memory AS m ON m.id = v.memory_id AND m.status <> 'deleted'
        WHERE v.model_id = e.id)
FROM memory_embeddingmodel AS e ORDER BY e.id

-- name: without_vector
-- Memories that need a vector of a model and have none, after an id: the active ones, and what
-- answers for the past because the active model knows it. Reads memory_vector_once, by primary key.
SELECT m.id FROM memory_memory AS m
WHERE m.id > %(after)s::uuid AND {needed}
  AND NOT EXISTS (SELECT FROM memory_memoryvector AS v
                  WHERE v.memory_id = m.id AND v.model_id = %(model)s)
ORDER BY m.id LIMIT %(limit)s

-- name: needing
-- How many memories need a vector, and how many of them have one of a model.
SELECT count(*), count(v.id)
FROM memory_memory AS m
LEFT JOIN memory_memoryvector AS v ON v.memory_id = m.id AND v.model_id = %(model)s
WHERE {needed}

-- name: needed
-- A part of the two above: what searches compare, now or as of a moment.
m.status <> 'deleted' AND (m.status = 'active' OR EXISTS (
    SELECT FROM memory_memoryvector AS o
    JOIN memory_embeddingmodel AS e ON e.id = o.model_id AND e.active
    WHERE o.memory_id = m.id))

-- name: wait_briefly
-- Give up waiting for a lock after two seconds, in this transaction: writers queue behind who waits.
SET LOCAL lock_timeout = '2s'

-- name: hold_memories
-- Wait for those who write memories or vectors, and have others wait, until this transaction ends;
-- in the order in which writers take them.
LOCK TABLE memory_memory, memory_memoryvector IN SHARE MODE

-- name: hashes
-- The hashes of the texts that vectors of a model came from; by memory_vector_once.
SELECT v.memory_id, v.text_hash FROM memory_memoryvector AS v
WHERE v.model_id = %(model)s AND v.memory_id = ANY (%(ids)s::uuid[])

-- name: forget_others
-- Delete vectors of other models whose text has changed: what is kept beside the active model is
-- missing or true, never of an earlier text.
DELETE FROM memory_memoryvector AS v
USING unnest(%(ids)s::uuid[], %(hashes)s::text[]) AS given(id, text_hash)
WHERE v.memory_id = given.id AND v.model_id <> %(model)s AND v.text_hash <> given.text_hash

-- name: forget_some
-- Delete some vectors of a model that is neither active nor being filled.
DELETE FROM memory_memoryvector WHERE id IN (
    SELECT v.id FROM memory_memoryvector AS v
    JOIN memory_embeddingmodel AS e ON e.id = v.model_id AND NOT e.active AND NOT e.filling
    WHERE v.model_id = %(model)s ORDER BY v.id LIMIT %(limit)s)

-- name: overlap
-- How much two models agree: of the ten nearest to some memories among those of the same audience
-- and project, the share that both find. Two exact scans a sampled memory; nothing is embedded.
WITH sampled AS MATERIALIZED (
    SELECT a.memory_id, a.audience, a.project_id, a.unit AS first, b.unit AS second
    FROM memory_memoryvector AS a
    JOIN memory_memoryvector AS b ON b.memory_id = a.memory_id AND b.model_id = %(second)s
    WHERE a.model_id = %(first)s AND a.live
    ORDER BY md5(a.memory_id::text), a.memory_id LIMIT %(sample)s),
compared AS (
    SELECT (SELECT count(*) FROM unnest(x.ids) AS id WHERE id = ANY (y.ids))::float8 AS shared,
           cardinality(x.ids) AS near
    FROM sampled AS s
    CROSS JOIN LATERAL (SELECT array_agg(n.memory_id) AS ids FROM (
        SELECT v.memory_id FROM memory_memoryvector AS v
        WHERE v.model_id = %(first)s AND v.live AND v.audience = s.audience
          AND v.project_id IS NOT DISTINCT FROM s.project_id AND v.memory_id <> s.memory_id
        ORDER BY (v.unit <#> s.first) + 0, v.memory_id LIMIT %(near)s) AS n) AS x
    CROSS JOIN LATERAL (SELECT array_agg(n.memory_id) AS ids FROM (
        SELECT v.memory_id FROM memory_memoryvector AS v
        WHERE v.model_id = %(second)s AND v.live AND v.audience = s.audience
          AND v.project_id IS NOT DISTINCT FROM s.project_id AND v.memory_id <> s.memory_id
        ORDER BY (v.unit <#> s.second) + 0, v.memory_id LIMIT %(near)s) AS n) AS y
    WHERE x.ids IS NOT NULL AND y.ids IS NOT NULL)
SELECT avg(shared / near), count(*) FROM compared

-- name: whole_cosines
-- Cosines of some memories by their whole vectors, where a model has more dimensions than a scan
-- reads; by memory_vector_once, at most some hundred rows out of line.
SELECT v.memory_id, -(v.whole <#> %(query)s::halfvec)::float8
FROM memory_memoryvector AS v JOIN memory_embeddingmodel AS e ON e.id = v.model_id
WHERE (e.key = %(key)s OR e.id = %(model)s) AND v.memory_id = ANY (%(ids)s::uuid[]) AND v.whole IS NOT NULL
