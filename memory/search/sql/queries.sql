-- name: candidates
-- Everything that one search reads before it ranks: of at most the sum of the limits, and what stands beside
-- them in conversations. An exact scan over the vectors of the visible audiences; words by index
-- memory_kw_words, files and tags by index memory_kw_facets.
SELECT g.key, g.topic, g.memory_id, g.cosine, g.bm25, g.matched, g.graph, g.entities, g.communities,
       g.before, g.after, (g.known).*
FROM "{schema}".gather(
    %(model)s, %(query)s::halfvec, %(whole)s::halfvec,
    jsonb_populate_record(NULL::"{schema}".search_request, %(request)s)) AS g

-- name: evidence
-- What ranking looks at besides the paths, of those candidates that may be seen.
SELECT * FROM evidence_of(%(ids)s::uuid[], %(audiences)s::uuid[], %(bound)s::uuid[],
                          %(identifiers)s::text[], %(keys)s::text[], %(with_text)s, %(now)s)
ORDER BY id

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
      AND (NOT %(in_work)s OR k.memory_id <> ALL (ARRAY({out_of_reach})))
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

-- name: chosen
-- A part of the queries below: whose tags, author and files are those asked for, as in
-- find_candidates. Looked up once, by index memory_kw_facets, and only when one of them is given.
SELECT n.memory_id FROM memory_memorykeyword AS n
WHERE n.audience = ANY (%(audiences)s::uuid[])
  AND n.facets @> (ARRAY(SELECT facet('tag', tag) FROM unnest(%(by_tags)s::text[]) AS tag)
                   || ARRAY(SELECT facet('author', lower(name)) FROM (SELECT %(by_author)s::text AS name) AS a
                            WHERE name IS NOT NULL))
  AND (coalesce(%(by_files)s::text[], %(by_globs)s::text[]) IS NULL OR n.memory_id IN (
           SELECT memories_of_files(%(by_files)s::text[], %(by_globs)s::text[], %(audiences)s::uuid[])))
  AND (%(by_topics)s::uuid[] IS NULL OR n.memory_id IN (
           SELECT b.memory_id FROM memory_topicmember AS b WHERE b.topic_id = ANY (%(by_topics)s::uuid[])))

-- name: narrowed
-- A part of the queries below: the memories, called m, that may be seen and pass the filters.
{visible}
AND (%(projects)s::uuid[] IS NULL OR m.project_id IS NULL OR m.project_id = ANY (%(projects)s::uuid[]))
AND (%(type_names)s::text[] IS NULL OR m.type = ANY (%(type_names)s::text[]))
AND CASE WHEN %(moment)s::timestamptz IS NULL THEN m.status = 'active' AND m.stale_at IS NULL
    ELSE m.status <> 'deleted' AND m.valid_from <= %(moment)s
         AND (m.valid_until IS NULL OR m.valid_until > %(moment)s) END
AND (%(since)s::timestamptz IS NULL OR m.valid_from >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR m.valid_from < %(until)s)
AND (NOT %(is_narrowed)s OR m.id IN ({chosen}))
AND (NOT %(in_work)s OR m.id <> ALL (ARRAY({out_of_reach})))

-- name: out_of_reach
-- A part of the queries here: the memories that somebody who works is not given.
SELECT out_of_reach(%(own_session)s::uuid, %(unit)s::text, %(here)s::text[], %(audiences)s::uuid[])

-- name: matching
-- The memories whose text a regular expression matches, newest first, and where it matches first.
-- Reads the text of every memory that passes the filters until enough are found: 8 ms at 10,000
-- memories for a pattern that matches often, up to 100 ms for one that matches nothing. A text that
-- a match must have is looked for first, byte by byte.
SELECT hit.id, regexp_instr(hit.content, %(pattern)s, 1, 1, 0, %(flags)s),
       regexp_instr(hit.content, %(pattern)s, 1, 1, 1, %(flags)s), hit.content
FROM (SELECT m.id, m.content, m.created_at FROM memory_memory AS m
      WHERE {narrowed} AND CASE WHEN {literal} LIKE %(literal)s
                                THEN regexp_like(m.content, %(pattern)s, %(flags)s) END
      ORDER BY m.created_at DESC, m.id LIMIT %(limit)s) AS hit
ORDER BY hit.created_at DESC, hit.id

-- name: be_quick
-- Let the statements of this transaction run so many milliseconds.
SELECT set_config('statement_timeout', %(milliseconds)s, true)

-- name: take_time
-- Let them run as long as those of any other.
SET LOCAL statement_timeout TO DEFAULT

-- name: similar
-- The memories nearest to one, by the vectors of the active model; exact, index memory_vector_live.
SELECT v.memory_id, -(v.unit <#> o.unit)::float8
FROM memory_embeddingmodel AS e
JOIN memory_memoryvector AS o ON o.model_id = e.id AND o.memory_id = %(memory_id)s
JOIN memory_memoryvector AS v ON v.model_id = e.id AND v.memory_id <> o.memory_id
WHERE e.active AND v.live AND {visible}
  AND (%(projects)s::uuid[] IS NULL OR v.project_id IS NULL OR v.project_id = ANY (%(projects)s::uuid[]))
  AND (%(types)s::smallint[] IS NULL OR v.type_code = ANY (%(types)s::smallint[]))
  AND (NOT %(is_narrowed)s OR v.memory_id IN ({chosen}))
ORDER BY (v.unit <#> o.unit) + 0, v.memory_id LIMIT %(limit)s

-- name: similar_words
-- The memories that share the weightiest words with one, as a share of its own; for a memory that
-- has no vector yet.
SELECT v.memory_id, ((v.weights <#> o.weights) / nullif(o.weights <#> o.weights, 0))::float8
FROM memory_memorykeyword AS o
JOIN memory_memorykeyword AS v ON v.memory_id <> o.memory_id
WHERE o.memory_id = %(memory_id)s AND v.live AND (v.weights <#> o.weights) < 0 AND {visible}
  AND (%(projects)s::uuid[] IS NULL OR v.project_id IS NULL OR v.project_id = ANY (%(projects)s::uuid[]))
  AND (%(types)s::smallint[] IS NULL OR v.type_code = ANY (%(types)s::smallint[]))
  AND (NOT %(is_narrowed)s OR v.memory_id IN ({chosen}))
ORDER BY (v.weights <#> o.weights), v.memory_id LIMIT %(limit)s

-- name: about_files
-- The memories about each of some files: of that very path before one that ends alike, those before what
-- is about its folder; what is pinned and important first, at most so many a file. Where folders are asked
-- for too, it reads the paths of all that pass the filters; else those that the facets of `called` name,
-- of all files at once, by index memory_kw_facets.
WITH asked AS (
    SELECT place, path, bare_path(path) AS bare, regexp_replace(bare_path(path), '/?[^/]*$', '') AS folder
    FROM unnest(%(paths)s::text[]) WITH ORDINALITY AS given(path, place)),
names AS MATERIALIZED (
    SELECT place, facet('end', bare) AS facet FROM asked
    UNION SELECT place, facet('path', ending) FROM asked, path_ends(path) AS ending)
SELECT hit.place, hit.id, hit.closeness
FROM (SELECT asked.place, m.id, fits.closeness, row_number() OVER (
          PARTITION BY asked.place
          ORDER BY fits.closeness, m.pinned DESC, m.importance DESC, m.created_at DESC, m.id) AS nth
      FROM asked
      CROSS JOIN memory_memory AS m
      CROSS JOIN LATERAL (
          SELECT min(CASE WHEN file = asked.bare THEN 0
                          WHEN right(file, length(asked.bare) + 1) = '/' || asked.bare THEN 1
                          WHEN right(asked.bare, length(file) + 1) = '/' || file THEN 1
                          WHEN asked.folder <> '' AND starts_with(file, asked.folder || '/') THEN 2
                     END) AS closeness
          FROM unnest(m.related_files) AS own, bare_path(own) AS file) AS fits
      WHERE {narrowed} AND {called} AND m.related_files <> '{}' AND fits.closeness <= %(closeness)s
     ) AS hit
WHERE hit.nth <= %(limit)s
ORDER BY hit.place, hit.nth

-- name: called
-- A part of the query above: files of the very path, of a longer one to it, or of a shorter one; of
-- each name at most ten thousand.
(asked.place, m.id) IN (
    SELECT n.place, f.memory_id
    FROM holders(ARRAY(SELECT DISTINCT facet FROM names), %(audiences)s::uuid[], NULL, 10000) AS f
    JOIN names AS n ON n.facet = f.facet)

-- name: timeline
-- What happened, oldest first, from a place in that order on: when it happened, or else when it was
-- learned.
SELECT m.id, coalesce(m.event_at, m.created_at) AS at
FROM memory_memory AS m
WHERE {narrowed}
  AND (%(start)s::timestamptz IS NULL OR coalesce(m.event_at, m.created_at) >= %(start)s)
  AND (%(end)s::timestamptz IS NULL OR coalesce(m.event_at, m.created_at) < %(end)s)
  AND (%(after_at)s::timestamptz IS NULL
       OR (coalesce(m.event_at, m.created_at), m.id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY 2, 1 LIMIT %(limit)s

-- name: of_modules
-- The memories of some modules, what is pinned and important first; of each module at most ten thousand,
-- by index memory_kw_facets.
SELECT m.id
FROM memory_memory AS m
WHERE m.id IN (SELECT f.memory_id FROM holders(
        ARRAY(SELECT facet('module', lower(name)) FROM unnest(%(named_modules)s::text[]) AS name),
        %(audiences)s::uuid[], NULL, 10000) AS f)
  AND {narrowed}
ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.id LIMIT %(limit)s

-- name: standing
-- What stands whatever the task: what is pinned or of the first governance layer and applies
-- everywhere, the firmest first, and the latest reflection of the same places; by memory_standing, which
-- holds few of many memories.
(SELECT m.id FROM memory_memory AS m
 WHERE m.status = 'active' AND (m.pinned OR m.governance = 1 OR m.type = 'reflection')
   AND (m.pinned OR m.governance = 1) AND m.reach = 'global' AND {narrowed}
 ORDER BY m.governance, m.pinned DESC, m.importance DESC, m.created_at DESC, m.id LIMIT %(limit)s)
UNION ALL
(SELECT m.id FROM memory_memory AS m
 WHERE m.status = 'active' AND (m.pinned OR m.governance = 1 OR m.type = 'reflection')
   AND m.type = 'reflection' AND {narrowed}
 ORDER BY m.created_at DESC, m.id LIMIT 1)

-- name: of_thing
-- The memories that name a thing, what is pinned and important first; by index memory_mention_named.
SELECT m.id
FROM memory_memory AS m
WHERE m.id IN (SELECT n.memory_id
               FROM unnest(%(named_types)s::smallint[], %(named_keys)s::text[]) AS thing(type_code, key)
               JOIN memory_mention AS n ON n.key = thing.key AND n.type_code = thing.type_code)
  AND {narrowed}
ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.id LIMIT %(limit)s
