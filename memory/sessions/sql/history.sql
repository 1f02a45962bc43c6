-- name: history
-- Turns that hold all words of a question, newest first, by the index memory_turn_words; `exact` asks
-- for the question itself in them, letter by letter, which only those can hold. At most `most` rows,
-- behind the place where a page ended. Texts come as a piece around the first word that was found.
SELECT t.id, t.session_id, t.sequence, t.role, t.masked, t.at, s.thread, p.slug, s.agent,
       length(t.text),
       greatest(1, found.place - %(before)s),
       substr(t.text, greatest(1, found.place - %(before)s), %(length)s)
FROM memory_turn AS t
JOIN memory_agentsession AS s ON s.id = t.session_id
LEFT JOIN teams_project AS p ON p.id = s.project_id
CROSS JOIN LATERAL (
    SELECT coalesce(
        nullif(strpos(lower(t.text), lower(%(query)s)), 0),
        nullif(strpos(lower(t.text), lower(%(first)s)), 0), 1) AS place) AS found
WHERE t.words @> said_words(%(query)s)
  AND (NOT %(exact)s
       OR strpos(lower(normalize(t.text, NFKC)), lower(normalize(%(query)s, NFKC))) > 0)
  AND {visible}
  AND (%(project)s::uuid IS NULL OR s.project_id = %(project)s::uuid)
  AND (%(session)s::uuid IS NULL OR t.session_id = %(session)s::uuid)
  AND (%(thread)s::text IS NULL OR s.thread = %(thread)s::text)
  AND (%(role)s::text IS NULL OR t.role = %(role)s::text)
  AND (%(at)s::timestamptz IS NULL OR (t.at, t.id) < (%(at)s::timestamptz, %(id)s::bigint))
ORDER BY t.at DESC, t.id DESC
LIMIT %(most)s
