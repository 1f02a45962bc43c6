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
