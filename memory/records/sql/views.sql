-- name: views
-- The chosen memories that may be seen, whole, with what contradicts them; with a moment, a note that they
-- were given out then, to whom, and how they were ranked.
SELECT {columns}, v.project, (v.memory).tags, (v.memory).related_files, (v.memory).related_modules,
       (v.memory).superseded_by_id, v.access_count, v.last_accessed_at, v.given_count, v.last_given_at,
       v.embedded, v.disputed, v.sides
FROM views_of(%(ids)s::uuid[], %(audiences)s::uuid[], %(bound)s::uuid[], %(weak)s::uuid[], %(kinds)s::text[], %(given_out)s,
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
-- What contradicts some memories, as the function has it.
SELECT * FROM disagreeing(%(ids)s::uuid[], %(kinds)s::text[], %(audiences)s::uuid[], %(bound)s::uuid[])
ORDER BY memory_id, other_id

-- name: of_topic
-- The live memories of a topic that may be seen, the most central first.
SELECT b.memory_id FROM memory_topicmember AS b
JOIN memory_memorykeyword AS k ON k.memory_id = b.memory_id AND k.live
WHERE b.topic_id = %(topic)s AND {visible}
ORDER BY b.closeness DESC NULLS LAST, b.memory_id LIMIT %(limit)s
