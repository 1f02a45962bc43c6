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

-- name: texts
-- What the vectors of some memories are made of, by primary key; locked where they are written.
SELECT m.id, m.type, m.content, m.related_files, m.related_modules FROM memory_memory AS m
WHERE m.id = ANY (%(ids)s::uuid[]) AND m.status = ANY (%(statuses)s::text[])
ORDER BY m.id {lock}

-- name: forget_others
-- Delete vectors of other models whose text has changed: what is kept beside the active model is
-- missing or true, never of an earlier text.
DELETE FROM memory_memoryvector AS v
USING unnest(%(ids)s::uuid[], %(hashes)s::text[]) AS given(id, text_hash)
WHERE v.memory_id = given.id AND v.model_id <> %(model)s AND v.text_hash <> given.text_hash

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
SELECT avg(shared / near) FROM compared

-- name: whole_cosines
-- Cosines of some memories by their whole vectors, where a model has more dimensions than a scan
-- reads; by memory_vector_once, at most some hundred rows out of line.
SELECT v.memory_id, -(v.whole <#> %(query)s::halfvec)::float8
FROM memory_memoryvector AS v
WHERE v.model_id = %(model)s AND v.memory_id = ANY (%(ids)s::uuid[]) AND v.whole IS NOT NULL

-- name: write_keywords
-- Index words; one row a memory, filters taken from the memory row.
INSERT INTO memory_memorykeyword AS k
    (memory_id, project_id, audience, type_code, live, known_from, known_until, facets, lexemes,
     weights)
SELECT m.id, m.project_id, m.audience, given.type_code,
       m.status = 'active' AND m.stale_at IS NULL, m.valid_from, m.valid_until,
       facets_of(m.tags, m.related_files, m.related_modules, m.author_user, m.author_agent,
                 m.source_interface,
                 states_of(m.status, m.pinned, m.needs_review, m.stale_at IS NOT NULL)),
       words, bm25_weights(words)
FROM unnest(%(ids)s::uuid[], %(codes)s::smallint[], %(texts)s::text[]) AS given(id, type_code, words_text)
JOIN memory_memory AS m ON m.id = given.id
CROSS JOIN LATERAL words_of(given.words_text) AS words
ON CONFLICT (memory_id) DO UPDATE SET
    project_id = excluded.project_id, audience = excluded.audience, type_code = excluded.type_code,
    live = excluded.live, known_from = excluded.known_from, known_until = excluded.known_until,
    facets = excluded.facets, lexemes = excluded.lexemes, weights = excluded.weights

-- name: lack_day
-- Memories behind an id that happened on a day which is not among their words, as none was once: reads
-- the words of what has happened at some time. Locked, in order.
SELECT m.id FROM memory_memory AS m JOIN memory_memorykeyword AS k ON k.memory_id = m.id
WHERE m.event_at IS NOT NULL AND m.id > %(after)s
  AND NOT k.lexemes @@ ('day' || to_char(m.event_at AT TIME ZONE 'UTC', 'YYYYMMDD'))::tsquery
ORDER BY m.id LIMIT %(limit)s FOR UPDATE OF m

-- name: write_vectors
-- Store vectors of one model; a memory that changed since its text was embedded is left to the next job.
INSERT INTO memory_memoryvector AS v
    (memory_id, model_id, prefix_dimensions, project_id, audience, type_code, live, known_from,
     known_until, unit, whole, text_hash)
SELECT m.id, %(model)s, %(prefix)s, m.project_id, m.audience, given.type_code,
       m.status = 'active' AND m.stale_at IS NULL, m.valid_from, m.valid_until,
       given.unit, given.whole, given.text_hash
FROM unnest(%(ids)s::uuid[], %(codes)s::smallint[], %(units)s::halfvec[], %(wholes)s::halfvec[],
            %(hashes)s::text[]) AS given(id, type_code, unit, whole, text_hash)
JOIN memory_memory AS m ON m.id = given.id
ON CONFLICT (memory_id, model_id) DO UPDATE SET
    project_id = excluded.project_id, audience = excluded.audience, type_code = excluded.type_code,
    live = excluded.live, known_from = excluded.known_from, known_until = excluded.known_until,
    unit = excluded.unit, whole = excluded.whole, text_hash = excluded.text_hash

-- name: sync_vectors
-- Repeat the filters of changed memories in their vector rows.
UPDATE memory_memoryvector AS v SET
    project_id = m.project_id, audience = m.audience,
    live = m.status = 'active' AND m.stale_at IS NULL,
    known_from = m.valid_from, known_until = m.valid_until
FROM memory_memory AS m WHERE m.id = v.memory_id AND m.id = ANY(%(ids)s::uuid[])

-- name: sync_keywords
-- Repeat the filters of changed memories in their keyword rows.
UPDATE memory_memorykeyword AS k SET
    project_id = m.project_id, audience = m.audience,
    live = m.status = 'active' AND m.stale_at IS NULL,
    known_from = m.valid_from, known_until = m.valid_until,
    facets = facets_of(m.tags, m.related_files, m.related_modules, m.author_user, m.author_agent,
                       m.source_interface,
                       states_of(m.status, m.pinned, m.needs_review, m.stale_at IS NOT NULL))
FROM memory_memory AS m WHERE m.id = k.memory_id AND m.id = ANY(%(ids)s::uuid[])

-- name: merge_access
-- Move the access log into the usage counts, into what is known of who was given what, and into what
-- the graph did to the searches of a day; one statement a tenant and minute. Sums of searches are of
-- the person who asked, and of the project where no person did.
WITH taken AS (
    DELETE FROM memory_accesslog
    RETURNING memories, at, person, token, by_program, project_id, graph_took_part, graph_changed),
ranked AS (
    INSERT INTO memory_statistic AS s (kind, audience, project_id, day, key, counts, updated_at)
    SELECT 'graph_part', coalesce(person, project_id), project_id, (at AT TIME ZONE 'UTC')::date, '',
           jsonb_build_object(
               'searches', count(*), 'took_part', count(*) FILTER (WHERE graph_took_part),
               'changed', count(*) FILTER (WHERE graph_changed)),
           max(at)
    FROM taken WHERE project_id IS NOT NULL GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (kind, audience, project_id, day, key) DO UPDATE SET
        updated_at = greatest(s.updated_at, excluded.updated_at),
        counts = (SELECT jsonb_object_agg(
            n.key, coalesce((s.counts ->> n.key)::bigint, 0) + n.value::bigint)
            FROM jsonb_each_text(excluded.counts) AS n)),
told AS (
    INSERT INTO memory_givenout AS g (memory_id, person, token, at)
    SELECT memory_id, person, token, max(at) FROM taken, unnest(memories) AS memory_id
    WHERE person IS NOT NULL OR token IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (memory_id, person, token, session_id, agent, compacted_at)
    DO UPDATE SET at = greatest(g.at, excluded.at)),
counted AS (
    SELECT memory_id, count(*)::int AS accesses, max(at) AS last_at,
           count(*) FILTER (WHERE by_program)::int AS given, max(at) FILTER (WHERE by_program) AS given_at
    FROM taken, unnest(memories) AS memory_id GROUP BY memory_id)
INSERT INTO memory_memoryusage AS u (memory_id, access_count, last_accessed_at, given_count, last_given_at)
SELECT c.memory_id, c.accesses, c.last_at, c.given, c.given_at FROM counted AS c
JOIN memory_memory AS m ON m.id = c.memory_id ORDER BY c.memory_id
ON CONFLICT (memory_id) DO UPDATE SET
    access_count = u.access_count + excluded.access_count,
    last_accessed_at = greatest(u.last_accessed_at, excluded.last_accessed_at),
    given_count = u.given_count + excluded.given_count,
    last_given_at = greatest(u.last_given_at, excluded.last_given_at)

-- name: lexicon_drift
-- Live keyword rows now, and how many there were when word counts were last taken.
SELECT (SELECT count(*) FROM memory_memorykeyword WHERE live),
       coalesce((SELECT sum(documents) FROM memory_lexeme WHERE word = ''), 0)

-- name: fill_lexicon
-- Take word counts anew: in how many live memories each word occurs, by who may see them; the empty
-- word counts all.
INSERT INTO memory_lexeme (word, audience, project_id, documents)
SELECT word, k.audience, k.project_id, count(*)::int
FROM memory_memorykeyword AS k CROSS JOIN LATERAL unnest(tsvector_to_array(k.lexemes)) AS word
WHERE k.live AND length(word) BETWEEN 1 AND 60 GROUP BY 1, 2, 3
UNION ALL
SELECT '', k.audience, k.project_id, count(*)::int
FROM memory_memorykeyword AS k WHERE k.live GROUP BY 2, 3

-- name: is_indexed
-- Whether the indexes of large organizations stand for the active model; one row or none.
SELECT is_indexed(id) FROM memory_embeddingmodel WHERE active

-- name: index_search
-- Make one of those that are missing; how many were, none where there are too many vectors.
SELECT cairn.index_search(%(organization)s, %(most)s)

-- name: missing_indexes
-- Those that are missing or unfinished in a large organization; for the owner of the tables.
SELECT i.name, i.definition FROM memory_embeddingmodel AS e
CROSS JOIN LATERAL cairn.search_indexes('{schema}', e.id, e.prefix_dimensions) AS i
WHERE e.active
  AND %(least)s < (SELECT count(*) FROM memory_memoryvector AS v WHERE v.live AND v.model_id = e.id)
  AND NOT EXISTS (SELECT FROM pg_index AS x
                  WHERE x.indexrelid = to_regclass(i.name) AND x.indisvalid)
ORDER BY i.name

-- name: unembedded
-- Active memories without a vector of the active model, the oldest first; those of the last minutes
-- are left to their own jobs. Reads memory_vector_once and one row a memory, every ten minutes.
SELECT m.id, m.governance FROM memory_memory AS m
JOIN memory_embeddingmodel AS e ON e.active
WHERE m.status = 'active' AND m.created_at < now() - interval '10 minutes'
  AND NOT EXISTS (SELECT FROM memory_memoryvector AS v
                  WHERE v.memory_id = m.id AND v.model_id = e.id)
ORDER BY m.id LIMIT %(limit)s

-- name: nearest
-- The live memories nearest to a vector among those of one audience and project, for duplicates.
-- Ordered by what is told, so that no row's distance is computed twice; exact all the same.
SELECT v.memory_id, -(v.unit <#> %(query)s::halfvec) AS cosine
FROM memory_memoryvector AS v
WHERE v.live AND v.model_id = %(model)s AND v.audience = %(audience)s
  AND v.project_id IS NOT DISTINCT FROM %(project)s::uuid
ORDER BY cosine DESC, v.memory_id
LIMIT %(limit)s

-- name: few
-- The memories that hold all of some facets, or any `limit` of them: by index memory_kw_facets.
SELECT k.memory_id FROM memory_memorykeyword AS k
WHERE k.facets @> ARRAY(
        SELECT facet(kind, CASE kind WHEN 'module' THEN lower(name) ELSE name END)
        FROM unnest(%(kinds)s::text[], %(names)s::text[]) AS held(kind, name))
  AND {visible} AND (%(project)s::uuid IS NULL OR k.project_id = %(project)s)
LIMIT %(limit)s

-- name: follow_topics
-- Let memories that were written or changed leave and join topics; a function of functions.sql.
SELECT follow_topics(%(ids)s::uuid[])

-- name: leave_topics
-- Take memories out of their topics, by primary key: what they say has changed.
DELETE FROM memory_topicmember WHERE memory_id = ANY (%(ids)s::uuid[])

-- name: active_model
-- The model that searches compare by: one row of a table with a handful of rows, asked by each call.
SELECT id, key FROM memory_embeddingmodel WHERE active ORDER BY id LIMIT 1
