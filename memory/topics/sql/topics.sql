-- name: places
-- The audiences and projects that have live memories or topics, with how many memories are live; one
-- pass over the keyword rows, once a night.
SELECT p.audience, p.project_id, sum(p.live)::int
FROM (SELECT k.audience, k.project_id, 1 AS live FROM memory_memorykeyword AS k WHERE k.live
      UNION ALL SELECT t.audience, t.project_id, 0 FROM memory_topic AS t) AS p
GROUP BY 1, 2 ORDER BY 1, 2

-- name: subjects
-- What the memories of a place are sorted by, the newest ones where there are more than `most`; index
-- memory_kw_live. A vector comes as Postgres sends it.
SELECT m.id, m.version, m.content, m.tags, m.related_files, named.keys, halfvec_send(v.unit)
FROM (SELECT k.memory_id FROM memory_memorykeyword AS k
      WHERE k.live AND k.audience = %(audience)s AND k.project_id IS NOT DISTINCT FROM %(project)s::uuid
      ORDER BY k.memory_id DESC LIMIT %(most)s) AS k
JOIN memory_memory AS m ON m.id = k.memory_id
LEFT JOIN memory_memoryvector AS v ON v.memory_id = m.id AND v.model_id = %(model)s
CROSS JOIN LATERAL (SELECT array_agg(DISTINCT n.key ORDER BY n.key) AS keys
                    FROM memory_mention AS n WHERE n.memory_id = m.id) AS named
ORDER BY m.id

-- name: links
-- The links between memories of a place; by the foreign key's index, one row a link.
SELECT l.source_id, l.target_id, l.confidence
FROM memory_memorylink AS l
JOIN memory_memorykeyword AS a ON a.memory_id = l.source_id AND a.live
JOIN memory_memorykeyword AS b ON b.memory_id = l.target_id AND b.live
WHERE a.audience = %(audience)s AND a.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND b.audience = %(audience)s AND b.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND l.confidence > 0
ORDER BY l.id

-- name: before
-- The topics of a place as they are, with their memories; index memory_topic_place.
SELECT t.id, t.words, array_agg(b.memory_id) FILTER (WHERE b.memory_id IS NOT NULL)
FROM memory_topic AS t LEFT JOIN memory_topicmember AS b ON b.topic_id = t.id
WHERE t.audience = %(audience)s AND t.project_id IS NOT DISTINCT FROM %(project)s::uuid
GROUP BY t.id ORDER BY t.id

-- name: hold
-- Be the only one who writes topics of the organization until this transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ':topics', 0))

-- name: write_topics
-- Store the topics of a place; those that stay keep their rows.
INSERT INTO memory_topic AS t (id, audience, project_id, words, model_id, center, reach, sorted_at)
SELECT g.id, %(audience)s, %(project)s::uuid, ARRAY(SELECT jsonb_array_elements_text(g.words)),
       CASE WHEN g.center IS NULL THEN NULL ELSE %(model)s END, g.center, g.reach, %(now)s
FROM unnest(%(ids)s::uuid[], %(words)s::jsonb[], %(centers)s::halfvec[], %(reaches)s::float8[])
     AS g(id, words, center, reach)
ON CONFLICT (id) DO UPDATE SET
    words = excluded.words, model_id = excluded.model_id, center = excluded.center,
    reach = excluded.reach, sorted_at = excluded.sorted_at

-- name: write_members
-- Store which topic each memory is in, where it still is in the place and says what was sorted; unchanged
-- rows stay as they are.
INSERT INTO memory_topicmember AS b (memory_id, topic_id, holds, closeness)
SELECT m.id, g.topic_id, g.holds, g.closeness
FROM unnest(%(memories)s::uuid[], %(versions)s::int[], %(topics)s::uuid[], %(holds)s::smallint[],
            %(closenesses)s::float8[]) AS g(memory_id, version, topic_id, holds, closeness)
JOIN memory_memory AS m ON m.id = g.memory_id AND m.version = g.version
WHERE m.status = 'active' AND m.stale_at IS NULL AND m.audience = %(audience)s
  AND m.project_id IS NOT DISTINCT FROM %(project)s::uuid
ON CONFLICT (memory_id) DO UPDATE SET
    topic_id = excluded.topic_id, holds = excluded.holds, closeness = excluded.closeness
WHERE (b.topic_id, b.holds, b.closeness)
    IS DISTINCT FROM (excluded.topic_id, excluded.holds, excluded.closeness)

-- name: drop_members
-- Take those memories of a place out of topics that are in none now; return them.
DELETE FROM memory_topicmember AS b USING memory_topic AS t
WHERE t.id = b.topic_id AND t.audience = %(audience)s
  AND t.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND b.memory_id <> ALL (%(memories)s::uuid[])
RETURNING b.memory_id

-- name: drop_topics
-- Forget the topics of a place that are no more.
DELETE FROM memory_topic AS t
WHERE t.audience = %(audience)s AND t.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND t.id <> ALL (%(ids)s::uuid[])

-- name: left_out
-- Live memories of a place with a vector that are in no topic, after an id: more came than are sorted.
SELECT k.memory_id FROM memory_memorykeyword AS k
WHERE k.live AND k.audience = %(audience)s AND k.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND k.memory_id > %(after)s
  AND NOT EXISTS (SELECT FROM memory_topicmember AS b WHERE b.memory_id = k.memory_id)
ORDER BY k.memory_id LIMIT %(limit)s

-- name: told
-- The topics one may see, the largest first, behind a place in that order: how many live memories each
-- has, and how many of those have each of its words; a topic of which no word is told is not told.
-- Reads every visible topic and its memories: by the foreign key's index and primary keys.
SELECT t.id, t.audience, t.project_id, p.slug, t.words, n.memories, n.held, t.sorted_at
FROM memory_topic AS t
LEFT JOIN teams_project AS p ON p.id = t.project_id
CROSS JOIN LATERAL count_members(t.id, t.audience, t.project_id) AS n
WHERE {visible}
  AND (%(within)s::uuid[] IS NULL OR t.project_id IS NULL OR t.project_id = ANY (%(within)s::uuid[]))
  AND (%(ids)s::uuid[] IS NULL OR t.id = ANY (%(ids)s::uuid[]))
  AND %(holders)s <= ANY (n.held)
  AND (%(after_count)s::int IS NULL OR n.memories < %(after_count)s::int
       OR (n.memories = %(after_count)s::int AND t.id > %(after_id)s::uuid))
ORDER BY n.memories DESC, t.id LIMIT %(limit)s

-- name: called
-- The visible topics with one of these ids, and those that have all words of one of these lists, at most
-- so many, for a filter that names topics. Which words are told is looked up of these alone.
SELECT t.id FROM memory_topic AS t
WHERE {visible} AND (t.id = ANY (%(ids)s::uuid[]) OR EXISTS (
    SELECT FROM jsonb_array_elements(%(words)s::jsonb) AS asked(words)
    WHERE asked.words <@ to_jsonb(ARRAY(SELECT lower(w.word) FROM unnest(t.words) AS w(word)))))
ORDER BY t.id = ANY (%(ids)s::uuid[]) DESC, t.id LIMIT %(limit)s
