-- name: evidence
-- What ranking looks at besides the paths, of the candidates of one search: by primary key, at most
-- 215 rows. The identifiers asked for are looked for in everything a memory says of itself. Ages are
-- days, computed here: reading four moments a row took 7 % of the program's part of a search.
SELECT m.id, m.type, m.source, m.related_files,
       extract(epoch FROM %(now)s - m.created_at)::float8 / 86400,
       extract(epoch FROM %(now)s
               - greatest(m.updated_at, m.last_confirmed_at, u.last_accessed_at))::float8 / 86400,
       u.access_count, m.confidence, m.verification, m.decay_half_life_days, m.pinned,
       m.taint_reason <> '', m.governance, m.tags,
       (SELECT avg(CASE WHEN strpos(said.words, lower(identifier)) = 0 THEN 1 ELSE 0 END)::float8
        FROM unnest(%(identifiers)s::text[]) AS identifier),
       CASE WHEN %(with_text)s THEN m.content ELSE '' END
FROM memory_memory AS m
LEFT JOIN memory_memoryusage AS u ON u.memory_id = m.id
LEFT JOIN LATERAL (
    SELECT lower(concat_ws(' ', m.content, array_to_string(m.related_files, ' '),
                           array_to_string(m.related_modules, ' '), array_to_string(m.tags, ' ')))
    WHERE %(identifiers)s::text[] <> '{}') AS said(words) ON true
WHERE m.id = ANY (%(ids)s::uuid[]) AND {visible}
ORDER BY m.id

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
