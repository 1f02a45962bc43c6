-- name: relations
-- What each of some memories is linked with, of what may be seen and is active: at most 40 a memory,
-- the surest first. Reads the two foreign key indexes of links and one row a relation.
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
    ORDER BY e.confidence DESC, e.id LIMIT 40) AS l
ORDER BY hit.id, l.confidence DESC, l.id
