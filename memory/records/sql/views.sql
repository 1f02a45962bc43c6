-- name: views
-- The chosen memories that may be seen, whole; with a moment, a note that they were given out then, to
-- whom, and how they were ranked.
SELECT {columns}, v.project, (v.memory).tags, (v.memory).related_files, (v.memory).related_modules,
       (v.memory).superseded_by_id, v.access_count, v.last_accessed_at, v.given_count, v.last_given_at,
       v.embedded, v.disputed
FROM views_of(%(ids)s::uuid[], %(audiences)s::uuid[], %(bound)s::uuid[], %(noted)s::uuid[], %(given_out)s,
              %(reader)s::uuid, %(reader_token)s::uuid, %(ranked_for)s::uuid,
              %(took_part)s::boolean, %(changed)s::boolean, %(program)s) AS v
ORDER BY 1

-- name: relations
-- What each of some memories is linked with, of what may be seen and is active: at most 40 a memory,
-- the surest first. Reads the two foreign key indexes of links and one row a relation. What waits for
-- review contradicts nothing yet: else an agent could silence what a person said.
SELECT hit.id, l.kind, l.outgoing, l.confidence, l.other_id, l.type, l.citation
FROM unnest(%(ids)s::uuid[]) AS hit(id)
CROSS JOIN LATERAL (
    SELECT e.kind, e.outgoing, e.confidence, m.id AS other_id, m.type, m.citation, e.id
    FROM (SELECT id, kind, true AS outgoing, confidence, target_id AS other
          FROM memory_memorylink WHERE source_id = hit.id
          UNION ALL
          SELECT id, kind, false, confidence, source_id
          FROM memory_memorylink WHERE target_id = hit.id) AS e
    JOIN memory_memory AS m ON m.id = e.other
    WHERE m.status = 'active' AND {visible}
      AND (e.kind <> ALL (%(kinds)s::text[]) OR NOT (m.needs_review OR m.taint_reason <> ''))
    ORDER BY e.confidence DESC, e.id LIMIT 40) AS l
ORDER BY hit.id, l.confidence DESC, l.id

-- name: disagreeing
-- What contradicts some memories, of what may be seen, is active and waits for no review: at most 10 a
-- memory. Reads the two foreign key indexes of links; nearly always nothing. With the open conflict of
-- the two, by its key.
SELECT hit.id, l.other_id, l.type, l.citation, l.content,
       (SELECT c.id FROM memory_conflict AS c
        WHERE c.verdict = '' AND (c.older_id, c.newer_id) IN ((hit.id, l.other_id), (l.other_id, hit.id))
        LIMIT 1)
FROM unnest(%(ids)s::uuid[]) AS hit(id)
CROSS JOIN LATERAL (
    SELECT DISTINCT m.id AS other_id, m.type, m.citation, m.content
    FROM (SELECT target_id AS other FROM memory_memorylink
          WHERE source_id = hit.id AND kind = ANY (%(kinds)s::text[])
          UNION ALL
          SELECT source_id FROM memory_memorylink
          WHERE target_id = hit.id AND kind = ANY (%(kinds)s::text[])) AS e
    JOIN memory_memory AS m ON m.id = e.other
    WHERE {visible} AND m.status = 'active' AND NOT (m.needs_review OR m.taint_reason <> '')
    ORDER BY m.id LIMIT 10) AS l
ORDER BY hit.id, l.other_id

-- name: of_topic
-- The live memories of a topic that may be seen, the most central first.
SELECT b.memory_id FROM memory_topicmember AS b
JOIN memory_memorykeyword AS k ON k.memory_id = b.memory_id AND k.live
WHERE b.topic_id = %(topic)s AND {visible}
ORDER BY b.closeness DESC NULLS LAST, b.memory_id LIMIT %(limit)s
