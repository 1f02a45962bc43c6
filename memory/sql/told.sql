-- name: told
-- The newest memories given out to a token or a person since a moment, with their cosine to a text: by
-- the indexes memory_given_token and memory_given_person, and from the log that was not merged yet;
-- at most `most` rows. What was put right since counts too: who was told the old may quote it still.
WITH given AS (
    SELECT g.memory_id, g.at FROM memory_givenout AS g
    WHERE g.at > %(since)s AND NOT g.withheld AND (g.token = %(token)s::uuid OR g.person = %(person)s::uuid)
    UNION ALL
    SELECT memory_id, a.at FROM memory_accesslog AS a, unnest(a.memories) AS memory_id
    WHERE a.at > %(since)s AND (a.token = %(token)s::uuid OR a.person = %(person)s::uuid)),
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
