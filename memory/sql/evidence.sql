-- name: evidence
-- What ranking looks at besides the paths, of the candidates of one search: by primary key, at most
-- 215 rows. The identifiers asked for are looked for in everything a memory says of itself.
SELECT m.id, m.type, m.source, m.related_files, m.created_at, m.updated_at, m.last_confirmed_at,
       u.access_count, u.last_accessed_at, m.confidence, m.verification, m.decay_half_life_days,
       m.pinned, m.taint_reason <> '', m.governance, m.tags,
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
