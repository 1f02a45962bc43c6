-- name: uncount_words
-- Take the words of memories out of the word counts of their places, before they are deleted; a word
-- that nobody else has is gone.
WITH gone AS (
    SELECT m.audience, m.project_id, word, count(*)::int AS documents
    FROM memory_memorykeyword AS k
    JOIN memory_memory AS m ON m.id = k.memory_id
    CROSS JOIN LATERAL unnest(tsvector_to_array(k.lexemes)) AS word
    WHERE k.memory_id = ANY (%(ids)s::uuid[]) GROUP BY 1, 2, 3),
dropped AS (
    DELETE FROM memory_lexeme AS l USING gone AS g
    WHERE l.word = g.word AND l.audience = g.audience AND l.documents <= g.documents
      AND l.project_id IS NOT DISTINCT FROM g.project_id)
UPDATE memory_lexeme AS l SET documents = l.documents - g.documents FROM gone AS g
WHERE l.word = g.word AND l.audience = g.audience AND l.documents > g.documents
  AND l.project_id IS NOT DISTINCT FROM g.project_id

-- name: strip_provenance
-- Memories that were taken from sessions lose where they came from, and nothing else.
UPDATE memory_memory SET
    session_id = CASE WHEN session_id = ANY (%(sessions)s::uuid[]) THEN NULL ELSE session_id END,
    provenance_sessions = ARRAY(SELECT one FROM unnest(provenance_sessions) AS one
                                WHERE one <> ALL (%(sessions)s::uuid[])),
    source_line = CASE WHEN source_uri LIKE ANY (%(origins)s::text[]) THEN NULL ELSE source_line END,
    source_uri = CASE WHEN source_uri LIKE ANY (%(origins)s::text[]) THEN '' ELSE source_uri END
WHERE session_id = ANY (%(sessions)s::uuid[]) OR provenance_sessions && %(sessions)s::uuid[]

-- name: empty_answers
-- Answers that are kept for a repeated request and name one of these memories. The key stays: the
-- request must not be done again. They are a day's, and each is read once, whatever the ids are.
UPDATE teams_idempotencykey AS k SET status = 410, headers = '{}', body = %(gone)s
WHERE EXISTS (
    SELECT FROM regexp_matches(encode(k.body, 'escape'), '"([0-9a-f-]{36})"', 'g') AS named
    WHERE named[1] = ANY (%(names)s::text[]))

-- name: strip_verdicts
-- What verdicts on other memories keep of how these were. That they were touched stays, so such a
-- verdict can no longer be undone, and needs nothing else of what it would have put back.
UPDATE memory_reviewverdict AS v SET before = v.before - 'reopened' - 'taken' || jsonb_build_object(
    'touched', (
        SELECT jsonb_agg(CASE WHEN kept ->> 'id' = ANY (%(names)s::text[])
                              THEN jsonb_set(kept, '{fields}', '{}') ELSE kept END ORDER BY place)
        FROM jsonb_array_elements(v.before -> 'touched') WITH ORDINALITY AS t(kept, place)))
WHERE EXISTS (SELECT FROM jsonb_array_elements(v.before -> 'touched') AS kept
              WHERE kept ->> 'id' = ANY (%(names)s::text[]))
