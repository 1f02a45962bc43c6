-- name: delivered_to_person
-- The newest memories delivered to a token since a time, to any token of a person or, where asked, to
-- that person in any way, and those in the delivery logs of their open sessions since ever; with their
-- cosine to a text: by the indexes memory_given_token, memory_given_person and memory_given_session, and
-- from the access log that was not merged yet; at most `most` rows. What was corrected since counts
-- too: an agent may still quote the old text.
WITH given AS (
    SELECT g.memory_id, g.at FROM memory_givenout AS g
    WHERE g.at > %(since)s AND NOT g.withheld
      AND (g.token = %(token)s::uuid
           OR g.person = %(person)s::uuid AND (%(in_any_way)s OR g.token IS NOT NULL))
    UNION ALL
    SELECT g.memory_id, g.at FROM memory_agentsession AS s JOIN memory_givenout AS g ON g.session_id = s.id
    WHERE s.state = 'open' AND NOT g.withheld
      AND (s.token_id = %(token)s::uuid OR s.opened_by = %(person)s::uuid)
    UNION ALL
    SELECT memory_id, a.at FROM memory_accesslog AS a, unnest(a.memories) AS memory_id
    WHERE a.at > %(since)s
      AND (a.token = %(token)s::uuid
           OR a.person = %(person)s::uuid AND (%(in_any_way)s OR a.token IS NOT NULL))),
newest AS (
    SELECT memory_id, max(at) AS at FROM given GROUP BY memory_id ORDER BY 2 DESC, 1
    LIMIT %(most)s)
SELECT m.id, m.content, -(v.unit <#> %(query)s::halfvec)
FROM newest AS n
JOIN memory_memory AS m ON m.id = n.memory_id
LEFT JOIN memory_embeddingmodel AS e ON e.key = %(model)s
LEFT JOIN memory_memoryvector AS v ON v.memory_id = m.id AND v.model_id = e.id AND v.live
WHERE m.status <> 'deleted' AND {visible}
ORDER BY m.id

-- name: delivered_to_agent
-- Which of some memories an agent of a session need not be given: those in its delivery log, or withheld
-- from the session; and those that its token was given in answer to a search since a time, merged or
-- not: by memory_given_session, memory_given_out_once and memory_given_token. A file's warnings count
-- from when the agent was last compacted (`is_anew`), everything else from the beginning.
SELECT memory_id FROM memory_givenout
WHERE session_id = ANY (%(sessions)s::uuid[]) AND memory_id = ANY (%(ids)s::uuid[])
  AND (withheld OR agent = %(agent)s
       AND (NOT %(is_anew)s OR compacted_at IS NOT DISTINCT FROM %(compacted)s::timestamptz))
UNION
SELECT memory_id FROM memory_givenout
WHERE token = %(token)s::uuid AND at >= %(since)s AND session_id IS NULL
  AND memory_id = ANY (%(ids)s::uuid[])
UNION
SELECT memory_id FROM memory_accesslog AS a, unnest(a.memories) AS memory_id
WHERE a.token = %(token)s::uuid AND a.at >= %(since)s AND memory_id = ANY (%(ids)s::uuid[])
