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
