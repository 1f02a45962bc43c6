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

-- name: evidence
-- What ranking looks at besides the paths, of those candidates that may be seen.
SELECT * FROM evidence_of(%(ids)s::uuid[], %(audiences)s::uuid[], %(bound)s::uuid[],
                          %(identifiers)s::text[], %(keys)s::text[], %(with_text)s, %(now)s)
ORDER BY id

-- name: turns
-- The episodes before and after each of these in its session: by index memory_session, at most 215
-- sessions; what is archived, stale, of another project or not visible is passed over.
SELECT c.id, before.id, after.id
FROM memory_memory AS c
LEFT JOIN LATERAL (
    SELECT m.id FROM memory_memory AS m
    WHERE m.session_id = c.session_id AND m.type = c.type AND m.status = 'active'
      AND m.stale_at IS NULL AND m.project_id IS NOT DISTINCT FROM c.project_id
      AND (coalesce(m.event_at, m.created_at), m.id) < (coalesce(c.event_at, c.created_at), c.id)
      AND {visible}
    ORDER BY coalesce(m.event_at, m.created_at) DESC, m.id DESC LIMIT 1) AS before ON true
LEFT JOIN LATERAL (
    SELECT m.id FROM memory_memory AS m
    WHERE m.session_id = c.session_id AND m.type = c.type AND m.status = 'active'
      AND m.stale_at IS NULL AND m.project_id IS NOT DISTINCT FROM c.project_id
      AND (coalesce(m.event_at, m.created_at), m.id) > (coalesce(c.event_at, c.created_at), c.id)
      AND {visible}
    ORDER BY coalesce(m.event_at, m.created_at), m.id LIMIT 1) AS after ON true
WHERE c.id = ANY (%(ids)s::uuid[]) AND c.session_id IS NOT NULL AND {seen}
ORDER BY c.id

-- name: answers
-- The memories that hold the rarest words of a question, best first, each with its BM25 and what share of
-- the words it has, by their rarity: for what is answered unasked, in milliseconds. By index
-- memory_kw_words; of no more than `few` memories, and of none where the words are in more than those:
-- what hundreds hold answers nothing.
WITH given AS MATERIALIZED (
    SELECT g AS words FROM query_words_of(%(question)s, %(audiences)s::uuid[], %(bound)s::uuid[],
                                     %(projects)s::uuid[]) AS g),
rare AS MATERIALIZED (
    SELECT r.query FROM given, rare_words(given.words, %(few)s, 0) AS r
    WHERE r.words > 0 OR cardinality((given.words).lexemes) > 1),
holder AS MATERIALIZED (
    SELECT k.memory_id, k.weights FROM memory_memorykeyword AS k
    WHERE k.lexemes @@ (SELECT query FROM rare) AND k.live AND {visible}
      AND (%(projects)s::uuid[] IS NULL OR k.project_id IS NULL OR k.project_id = ANY (%(projects)s::uuid[]))
    LIMIT %(few)s + 1),
best AS MATERIALIZED (
    SELECT h.memory_id, h.weights, -(h.weights <#> (given.words).weights) AS score
    FROM holder AS h CROSS JOIN given WHERE (SELECT count(*) FROM holder) <= %(few)s
    ORDER BY score DESC, h.memory_id LIMIT %(limit)s),
word AS MATERIALIZED (
    SELECT w.asked, w.idf, w.is_known, ('{' || w.word || ':1}/268435456')::sparsevec AS axis
    FROM given, unnest((given.words).asked, (given.words).words, (given.words).idfs, (given.words).known)
        AS w(asked, word, idf, is_known)),
asked AS MATERIALIZED (
    SELECT sum(own.idf) AS mass FROM (
        SELECT coalesce(max(idf) FILTER (WHERE is_known), max(idf)) AS idf FROM word GROUP BY asked) AS own)
SELECT b.memory_id, b.score, least(1, coalesce((
    SELECT sum(own.idf) FROM (
        SELECT max(w.idf) AS idf FROM word AS w WHERE (b.weights <#> w.axis) < 0 GROUP BY w.asked) AS own)
    / nullif(asked.mass, 0), 0))
FROM best AS b CROSS JOIN asked ORDER BY b.score DESC, b.memory_id
