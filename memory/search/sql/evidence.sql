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
