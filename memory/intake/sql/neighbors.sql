-- name: newest
-- Of the newest entries of the action log, the memories of one place nearest to a vector: what has just
-- come is compared whatever an index of vectors knows already. Index memory_action_place, one vector an
-- entry.
SELECT v.memory_id, -(v.unit <#> %(query)s::halfvec)::float8 AS cosine
FROM (SELECT DISTINCT e.memory_id
      FROM (SELECT l.memory_id FROM memory_actionlog AS l
            WHERE (l.project_id = %(project)s::uuid
                   OR (%(project)s::uuid IS NULL AND l.project_id IS NULL))
            ORDER BY l.id DESC LIMIT %(window)s) AS e
      WHERE e.memory_id IS NOT NULL) AS entry
JOIN memory_memoryvector AS v ON v.memory_id = entry.memory_id AND v.model_id = %(model)s
WHERE v.live AND v.audience = %(audience)s AND v.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND -(v.unit <#> %(query)s::halfvec) >= %(least)s
ORDER BY 2 DESC, 1

-- name: center
-- The topic of a place whose center is nearest to a vector, and whether it reaches so far.
SELECT t.id, near.cosine, near.cosine >= t.reach
FROM memory_topic AS t
-- CASE: centers of other models have other dimensions and cannot be compared.
CROSS JOIN LATERAL (SELECT CASE WHEN t.model_id = %(model)s AND t.center IS NOT NULL
                                THEN -(t.center <#> %(query)s::halfvec)::float8 END AS cosine) AS near
WHERE t.audience = %(audience)s AND t.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND near.cosine IS NOT NULL
ORDER BY near.cosine DESC, t.id LIMIT 1

-- name: known
-- What integration asks of memories: what they say, whose word it is, and what they are about; by
-- primary keys.
SELECT m.id, m.content, m.type, m.authority, m.governance, m.tags, m.pinned, m.audience, m.valid_from,
       m.related_files, b.topic_id, named.keys, m.version,
       m.needs_review OR m.taint_reason <> '' OR m.stale_at IS NOT NULL,
       m.user_verified OR m.verification = 'verified'
FROM memory_memory AS m
LEFT JOIN memory_topicmember AS b ON b.memory_id = m.id
CROSS JOIN LATERAL (SELECT array_agg(DISTINCT n.key ORDER BY n.key) AS keys
                    FROM memory_mention AS n
                    WHERE n.memory_id = m.id AND n.type_code = ANY (%(types)s::smallint[])) AS named
WHERE m.id = ANY (%(ids)s::uuid[]) AND m.status = 'active'
ORDER BY m.id

-- name: nearest_of_many
-- The nearest live memories of each of some memories, by the vectors of the active model: in their own
-- place, and of a personal memory in its project, of a project's among what its writer keeps for
-- themselves. Exact, index memory_vector_live, a scan a memory and place.
SELECT o.memory_id, n.memory_id, n.cosine
FROM memory_embeddingmodel AS e
JOIN memory_memoryvector AS o ON o.model_id = e.id AND o.live AND o.memory_id = ANY (%(ids)s::uuid[])
JOIN memory_memory AS m ON m.id = o.memory_id
CROSS JOIN LATERAL (
    SELECT o.audience
    UNION SELECT CASE m.scope WHEN 'personal' THEN m.project_id WHEN 'project' THEN m.author_user END
    WHERE m.project_id IS NOT NULL) AS place(audience)
CROSS JOIN LATERAL (
    SELECT v.memory_id, -(v.unit <#> o.unit)::float8 AS cosine
    FROM memory_memoryvector AS v
    WHERE v.live AND v.model_id = e.id AND v.audience = place.audience
      AND v.project_id IS NOT DISTINCT FROM o.project_id AND v.memory_id <> o.memory_id
    ORDER BY cosine DESC, v.memory_id LIMIT %(limit)s) AS n
WHERE e.active AND n.cosine >= %(least)s
ORDER BY o.memory_id, n.cosine DESC, n.memory_id

-- name: delivered_to_person
-- The newest memories delivered to a token since a time, to any token of a person or, where asked, to
-- that person in any way, and those in the delivery logs of their open sessions since ever; with their
-- cosine to a text: by the indexes memory_given_token, memory_given_person and memory_given_session, and
-- from the access log that was not merged yet; at most `most` rows, and of these the ones of a place:
-- of its project, or where that is wanted of none, and for its audiences. What was corrected since
-- counts too: an agent may still quote the old text.
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
WHERE m.status <> 'deleted' AND {visible} AND m.audience = ANY(%(of_place)s::uuid[])
  AND (m.project_id IS NOT DISTINCT FROM %(project)s::uuid OR %(is_wide)s AND m.project_id IS NULL)
ORDER BY m.id

-- name: was_delivered_to_agents
-- Whether any agent of a person was given one memory after a time, merged into the delivery log or not: by
-- memory_given_out_once, and the few rows of the access log.
SELECT EXISTS (SELECT FROM memory_givenout AS g
               WHERE g.memory_id = %(memory_id)s AND g.at > %(since)s AND NOT g.withheld
                 AND g.person IS NOT DISTINCT FROM %(person)s::uuid AND g.token IS NOT NULL)
    OR EXISTS (SELECT FROM memory_accesslog AS a
               WHERE %(memory_id)s = ANY (a.memories) AND a.at > %(since)s
                 AND a.person IS NOT DISTINCT FROM %(person)s::uuid AND a.token IS NOT NULL)
