-- name: candidates
-- The candidates of one search: at most the sum of the limits. An exact scan over the vectors of the
-- visible audiences; words by index memory_kw_words, files and tags by index memory_kw_facets.
-- Every row says the active model, and there is one even when nothing was found; a query's vector of
-- another model is not compared with anything.
SELECT active.key, c.memory_id, c.cosine, coalesce(c.bm25, 0), coalesce(c.matched, 0), c.graph,
       c.entities, c.communities
FROM (VALUES (1)) AS always
LEFT JOIN (SELECT id, key FROM memory_embeddingmodel WHERE active ORDER BY id LIMIT 1) AS active ON true
LEFT JOIN LATERAL "{schema}".find_candidates(
    active.id, CASE WHEN active.key = %(model)s THEN %(query)s::halfvec END,
    jsonb_populate_record(NULL::"{schema}".search_request, %(request)s)) AS c ON true

-- name: nearest
-- The live memories nearest to a vector among those of one audience and project, for duplicates.
-- Ordered by what is told, so that no row's distance is computed twice; exact all the same.
SELECT v.memory_id, -(v.unit <#> %(query)s::halfvec) AS cosine
FROM memory_memoryvector AS v
WHERE v.live AND v.model_id = %(model)s AND v.audience = %(audience)s
  AND v.project_id IS NOT DISTINCT FROM %(project)s::uuid
ORDER BY cosine DESC, v.memory_id
LIMIT %(limit)s

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
    RETURNING memories, at, person, token, project_id, graph_took_part, graph_changed),
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
    SELECT memory_id, count(*)::int AS accesses, max(at) AS last_at
    FROM taken, unnest(memories) AS memory_id GROUP BY memory_id)
INSERT INTO memory_memoryusage AS u (memory_id, access_count, last_accessed_at)
SELECT c.memory_id, c.accesses, c.last_at FROM counted AS c
JOIN memory_memory AS m ON m.id = c.memory_id ORDER BY c.memory_id
ON CONFLICT (memory_id) DO UPDATE SET
    access_count = u.access_count + excluded.access_count,
    last_accessed_at = greatest(u.last_accessed_at, excluded.last_accessed_at)

-- name: lexicon_drift
-- Live keyword rows now, and how many there were when word counts were last taken.
SELECT (SELECT count(*) FROM memory_memorykeyword WHERE live),
       coalesce((SELECT sum(documents) FROM memory_lexeme WHERE word = ''), 0)

-- name: clear_lexicon
-- Forget word counts before they are taken anew, in the same transaction.
DELETE FROM memory_lexeme

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

-- name: active_model
-- The model whose vectors searches compare; one row or none.
SELECT id, key FROM memory_embeddingmodel WHERE active ORDER BY id LIMIT 1

-- name: unembedded
-- Active memories without a vector of the active model, the oldest first; those of the last minutes
-- are left to their own jobs. Reads memory_vector_once and one row a memory, every ten minutes.
SELECT m.id FROM memory_memory AS m
JOIN memory_embeddingmodel AS e ON e.active
WHERE m.status = 'active' AND m.created_at < now() - interval '10 minutes'
  AND NOT EXISTS (SELECT FROM memory_memoryvector AS v
                  WHERE v.memory_id = m.id AND v.model_id = e.id)
ORDER BY m.id LIMIT %(limit)s

-- name: views
-- The chosen memories that may be seen, whole; with a moment, a note that they were given out then, to
-- whom, and how they were ranked.
SELECT {columns}, v.project, (v.memory).tags, (v.memory).related_files, (v.memory).related_modules,
       (v.memory).superseded_by_id, v.access_count, v.last_accessed_at, v.embedded
FROM views_of(%(ids)s::uuid[], %(audiences)s::uuid[], %(bound)s::uuid[], %(given_out)s,
              %(reader)s::uuid, %(reader_token)s::uuid, %(ranked_for)s::uuid,
              %(took_part)s::boolean, %(changed)s::boolean) AS v
ORDER BY 1
