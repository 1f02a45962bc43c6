-- name: chosen
-- A part of the queries below: whose tags, author and files are those asked for, as in
-- find_candidates. Looked up once, by index memory_kw_facets, and only when one of them is given.
SELECT n.memory_id FROM memory_memorykeyword AS n
WHERE n.audience = ANY (%(audiences)s::uuid[])
  AND n.facets @> (ARRAY(SELECT facet('tag', tag) FROM unnest(%(tags)s::text[]) AS tag)
                   || ARRAY(SELECT facet('author', lower(name)) FROM unnest(%(authors)s::text[]) AS name))
  AND (NOT %(in_files)s
       OR n.facets && ARRAY(SELECT facet('end', bare_path(f)) FROM unnest(%(files)s::text[]) AS f)
       OR (cardinality(%(globs)s::text[]) > 0 AND EXISTS (
               SELECT FROM memory_memory AS g, unnest(g.related_files) AS file
               WHERE g.id = n.memory_id AND '/' || bare_path(file) LIKE ANY (
                   ARRAY(SELECT lower(glob) FROM unnest(%(globs)s::text[]) AS glob)))))
  AND (%(topics)s::uuid[] IS NULL OR n.memory_id IN (
           SELECT b.memory_id FROM memory_topicmember AS b WHERE b.topic_id = ANY (%(topics)s::uuid[])))

-- name: narrowed
-- A part of the queries below: the memories, called m, that may be seen and pass the filters.
{visible}
AND (%(projects)s::uuid[] IS NULL OR m.project_id IS NULL OR m.project_id = ANY (%(projects)s::uuid[]))
AND (%(types)s::text[] IS NULL OR m.type = ANY (%(types)s::text[]))
AND CASE WHEN %(moment)s::timestamptz IS NULL THEN m.status = 'active' AND m.stale_at IS NULL
    ELSE m.status <> 'deleted' AND m.valid_from <= %(moment)s
         AND (m.valid_until IS NULL OR m.valid_until > %(moment)s) END
AND (%(since)s::timestamptz IS NULL OR m.valid_from >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR m.valid_from < %(until)s)
AND (NOT %(is_narrowed)s OR m.id IN ({chosen}))

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
  AND (%(codes)s::smallint[] IS NULL OR v.type_code = ANY (%(codes)s::smallint[]))
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
  AND (%(codes)s::smallint[] IS NULL OR v.type_code = ANY (%(codes)s::smallint[]))
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
