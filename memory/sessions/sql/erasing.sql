-- name: fold_given
-- Leave that memories were given out to whom, and forget in which session: by memory_given_session.
INSERT INTO memory_givenout AS g (memory_id, person, token, at)
SELECT memory_id, person, token, max(at) FROM memory_givenout
WHERE session_id = %(session)s AND NOT withheld GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (memory_id, person, token, session_id, agent, compacted_at)
DO UPDATE SET at = greatest(g.at, excluded.at)

-- name: drop_sums
-- Sums that this session alone has made: those of its place that nobody has added to since.
DELETE FROM memory_statistic
WHERE audience = %(audience)s AND project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND kind <> 'model_use' AND updated_at = %(counted)s::timestamptz
  AND (counts ->> 'sessions')::int = 1

-- name: drop_notes
-- The last message of each error of a place, which may be of this session; names of files and modules
-- stay, because they are what is counted.
UPDATE memory_statistic SET counts = counts - 'notes'
WHERE audience = %(audience)s AND project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND kind = 'observed_error' AND updated_at >= %(since)s AND counts ? 'notes'

-- name: strip_provenance
-- Memories that were taken from a session lose where they came from, and nothing else.
UPDATE memory_memory SET
    session_id = nullif(session_id, %(session)s::uuid),
    provenance_sessions = array_remove(provenance_sessions, %(session)s::uuid),
    source_line = CASE WHEN source_uri LIKE %(origin)s THEN NULL ELSE source_line END,
    source_uri = CASE WHEN source_uri LIKE %(origin)s THEN '' ELSE source_uri END
WHERE session_id = %(session)s::uuid OR %(session)s::uuid = ANY (provenance_sessions)

-- name: uncount_words
-- Take the words of memories of one place out of its word counts, before they are deleted; a word that
-- nobody else has is gone.
WITH gone AS (
    SELECT word, count(*)::int AS documents
    FROM memory_memorykeyword AS k CROSS JOIN LATERAL unnest(tsvector_to_array(k.lexemes)) AS word
    WHERE k.memory_id = ANY (%(ids)s::uuid[]) GROUP BY 1),
dropped AS (
    DELETE FROM memory_lexeme AS l USING gone AS g
    WHERE l.word = g.word AND l.audience = %(audience)s AND l.documents <= g.documents
      AND l.project_id IS NOT DISTINCT FROM %(project)s::uuid)
UPDATE memory_lexeme AS l SET documents = l.documents - g.documents FROM gone AS g
WHERE l.word = g.word AND l.audience = %(audience)s AND l.documents > g.documents
  AND l.project_id IS NOT DISTINCT FROM %(project)s::uuid
