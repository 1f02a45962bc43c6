-- name: only_read
-- Whether a thing is named in what one may see by nothing but a reader of the night; by index
-- memory_mention_named.
SELECT NOT EXISTS (
    SELECT FROM unnest(%(types)s::smallint[], %(keys)s::text[]) AS thing(type_code, key)
    JOIN memory_mention AS n ON n.key = thing.key AND n.type_code = thing.type_code
    WHERE n.read_by = 0 AND {visible})

-- name: shared
-- What the memories name that everybody of the organization or of a project shares, the most often named
-- first, so many of each. Reads every mention, once a night.
WITH counted AS (
SELECT n.audience, n.type_code, n.key, count(*) AS memories FROM memory_mention AS n
WHERE (n.audience = n.project_id OR n.audience = %(everybody)s) AND n.type_code = ANY (%(types)s::smallint[])
  AND NOT EXISTS (SELECT FROM memory_memorykeyword AS k WHERE k.memory_id = n.memory_id AND NOT k.live)
GROUP BY 1, 2, 3),
ranked AS (
SELECT c.*, row_number() OVER (PARTITION BY c.audience ORDER BY c.memories DESC, c.key, c.type_code) AS place
FROM counted AS c)
SELECT audience, type_code, key FROM ranked WHERE place <= %(most)s ORDER BY audience, place

-- name: things
-- The keys of things that some memories name, by primary key, of what may be seen.
SELECT n.memory_id, array_agg(DISTINCT n.key) FROM memory_mention AS n
WHERE n.memory_id = ANY (%(ids)s::uuid[]) AND n.type_code = ANY (%(types)s::smallint[])
  AND {visible}
GROUP BY 1 ORDER BY 1

-- name: known
-- What the memories one may see name, the most often named first, behind a place in that order: how it
-- is written most often, in how many, in which other ways. Reads every mention that may be seen: 40 ms
-- at 10,000 memories, 4.6 s of CPU at a million with four names each (7.4 s with each looked up among what
-- is live, which does not fit into memory); with keys given, those alone, by index memory_mention_named.
WITH spelling AS (
SELECT n.type_code, n.key, n.name, count(*)::int AS memories
FROM memory_mention AS n
WHERE NOT EXISTS (SELECT FROM memory_memorykeyword AS k WHERE k.memory_id = n.memory_id AND NOT k.live)
  AND {visible}
  AND (%(within)s::uuid[] IS NULL OR n.project_id IS NULL OR n.project_id = ANY (%(within)s::uuid[]))
  AND (%(type)s::smallint IS NULL OR n.type_code = %(type)s::smallint)
  AND (%(keys)s::text[] IS NULL OR n.key = ANY (%(keys)s::text[]))
  AND (%(begins)s::text[] IS NULL OR n.key LIKE ANY (%(begins)s::text[]))
GROUP BY n.type_code, n.key, n.name)
SELECT s.type_code, s.key, (array_agg(s.name ORDER BY s.memories DESC, s.name))[1],
       sum(s.memories)::int, (array_agg(s.name ORDER BY s.name))[:{spellings}]
FROM spelling AS s GROUP BY s.type_code, s.key
HAVING %(after_count)s::int IS NULL OR sum(s.memories) < %(after_count)s::int
    OR (sum(s.memories) = %(after_count)s::int
        AND (s.key, s.type_code) > (%(after_key)s::text, %(after_type)s::smallint))
ORDER BY sum(s.memories) DESC, s.key, s.type_code LIMIT %(limit)s

-- name: known_together
-- The same while names are said to be one thing: groups of them are told as one, by what may be seen of
-- each. A group is asked for by a name of it that may be seen; others of it are unknown to the reader.
WITH same AS (
SELECT * FROM unnest(%(same_types)s::smallint[], %(same_keys)s::text[], %(same_groups)s::int[])
    AS s(type_code, key, number)),
seen AS (
SELECT coalesce(s.number::text, n.type_code || ' ' || n.key) AS thing, n.type_code, n.key, n.name, n.memory_id
FROM memory_mention AS n LEFT JOIN same AS s ON s.key = n.key AND s.type_code = n.type_code
WHERE NOT EXISTS (SELECT FROM memory_memorykeyword AS k WHERE k.memory_id = n.memory_id AND NOT k.live) AND {visible}
  AND (%(within)s::uuid[] IS NULL OR n.project_id IS NULL OR n.project_id = ANY (%(within)s::uuid[]))
  AND (%(type)s::smallint IS NULL OR n.type_code = %(type)s::smallint)
  AND (%(near)s::text[] IS NULL OR n.key = ANY (%(near)s::text[]))),
spelling AS (SELECT thing, type_code, key, name, count(*)::int AS uses FROM seen GROUP BY 1, 2, 3, 4),
counted AS (SELECT thing, count(DISTINCT memory_id)::int AS memories FROM seen GROUP BY thing),
told AS (
SELECT s.thing, (array_agg(s.type_code ORDER BY s.uses DESC, s.key, s.type_code))[1] AS type_code,
       (array_agg(s.key ORDER BY s.uses DESC, s.key, s.type_code))[1] AS key,
       (array_agg(s.name ORDER BY s.uses DESC, s.name))[1] AS name,
       min(c.memories) AS memories,
       (array_agg(DISTINCT s.name ORDER BY s.name))[:{spellings}] AS spellings,
       array_agg(DISTINCT s.type_code || ' ' || s.key) AS members
FROM spelling AS s JOIN counted AS c ON c.thing = s.thing GROUP BY s.thing
HAVING (%(keys)s::text[] IS NULL OR bool_or(s.key = ANY (%(keys)s::text[])))
   AND (%(begins)s::text[] IS NULL OR bool_or(s.key LIKE ANY (%(begins)s::text[]))))
SELECT type_code, key, name, memories, spellings, members FROM told
WHERE %(after_count)s::int IS NULL OR memories < %(after_count)s::int
   OR (memories = %(after_count)s::int AND (key, type_code) > (%(after_key)s::text, %(after_type)s::smallint))
ORDER BY memories DESC, key, type_code LIMIT %(limit)s

-- name: neighbors
-- What the memories that name a thing name most often beside it; by index memory_mention_named, then
-- by primary key.
SELECT o.type_code, o.key, mode() WITHIN GROUP (ORDER BY o.name), count(DISTINCT o.memory_id)::int
FROM unnest(%(types)s::smallint[], %(keys)s::text[]) AS thing(type_code, key)
JOIN memory_mention AS n ON n.key = thing.key AND n.type_code = thing.type_code
JOIN memory_memorykeyword AS k ON k.memory_id = n.memory_id AND k.live
JOIN memory_mention AS o ON o.memory_id = n.memory_id
    AND NOT EXISTS (SELECT FROM unnest(%(types)s::smallint[], %(keys)s::text[]) AS own(type_code, key)
                    WHERE own.key = o.key AND own.type_code = o.type_code)
WHERE {visible}
  AND (%(within)s::uuid[] IS NULL OR n.project_id IS NULL OR n.project_id = ANY (%(within)s::uuid[]))
GROUP BY o.type_code, o.key ORDER BY count(DISTINCT o.memory_id) DESC, o.key, o.type_code LIMIT %(limit)s

-- name: merges
-- What is said to be one thing for some audiences, in the order in which it was said; by index
-- memory_verdict_same.
SELECT v.id, (v.before -> 'first' ->> 0)::int, v.before -> 'first' ->> 1,
       (v.before -> 'second' ->> 0)::int, v.before -> 'second' ->> 1,
       v.audience, v.decided_by, v.decided_at
FROM memory_reviewverdict AS v
WHERE v.verdict = 'same' AND v.undone_at IS NULL AND v.audience = ANY (%(audiences)s::uuid[])
ORDER BY v.decided_at, v.id

-- name: count_unread
-- How many memories an older version of the patterns has read, by index memory_names_version, and all.
SELECT (SELECT count(*) FROM memory_memory WHERE names_version < %(version)s),
       (SELECT count(*) FROM memory_memory)

-- name: lock_unread
-- Some memories that an older version has read, but those that somebody holds; by index
-- memory_names_version alone, which of them come first does not matter.
SELECT m.id, m.content, m.audience, m.project_id FROM memory_memory AS m
WHERE m.names_version < %(version)s
ORDER BY m.names_version LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED

-- name: mark_read
-- Say which reader, and which version of the patterns, if any, have read memories, by primary key.
UPDATE memory_memory
SET names_version = coalesce(%(version)s::int, names_version), enriched_by = %(enriched_by)s
WHERE id = ANY (%(ids)s::uuid[])

-- name: count_unenriched
-- How many active memories a reader has not read, up to a limit; by index memory_enriched_by.
SELECT count(*) FROM (SELECT FROM memory_memory AS m
                      WHERE m.status = 'active' AND m.enriched_by < %(number)s LIMIT %(limit)s) AS unread

-- name: list_unenriched
-- Active memories that a reader has not read; by index memory_enriched_by alone.
SELECT m.id, m.content FROM memory_memory AS m
WHERE m.status = 'active' AND m.enriched_by < %(number)s
ORDER BY m.enriched_by LIMIT %(limit)s

-- name: lock_unenriched
-- Those of some memories that are still unread and that nobody holds, by primary key.
SELECT m.id, m.content, m.audience, m.project_id FROM memory_memory AS m
WHERE m.id = ANY (%(ids)s::uuid[]) AND m.status = 'active' AND m.enriched_by < %(number)s
FOR NO KEY UPDATE SKIP LOCKED
