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
