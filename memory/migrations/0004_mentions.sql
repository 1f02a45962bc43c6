-- Memories by the things they name; run with search_path = "<schema>", public.

-- The memories of some audiences that name one of these things, by their keys: index
-- memory_mention_named, at most `most` of each, and which of the keys it was. A name that so many
-- give is in no order; who asks leaves it out.
CREATE FUNCTION naming(keys text[], audiences uuid[], bound uuid[], most int)
RETURNS TABLE (name bigint, memory_id uuid) LANGUAGE sql STABLE ROWS 50 AS $$
    SELECT k.name, m.memory_id FROM unnest(keys) WITH ORDINALITY AS k(key, name)
    CROSS JOIN LATERAL (
        SELECT DISTINCT n.memory_id FROM memory_mention AS n
        WHERE n.key = k.key AND n.audience = ANY (audiences)
          AND (bound IS NULL OR n.project_id = ANY (bound))
        LIMIT most) AS m
$$;

-- The words of a question, as stems, that stand for things which some memories name, however they
-- write them: by primary key, at most 215 memories that may be seen. Only of what one of them names
-- are the words `spelled` taken apart.
CREATE FUNCTION spelled_otherwise(ids uuid[], keys text[], spelled text[])
RETURNS TABLE (memory_id uuid, words text[]) LANGUAGE sql STABLE ROWS 20 AS $$
    WITH said AS MATERIALIZED (
        SELECT DISTINCT n.memory_id, n.key FROM memory_mention AS n
        WHERE n.memory_id = ANY (ids) AND n.key = ANY (keys)),
    stem AS MATERIALIZED (
        SELECT k.key, unnest(tsvector_to_array(to_tsvector('pg_catalog.english', k.words))) AS word
        FROM unnest(keys, spelled) AS k(key, words) WHERE k.key IN (SELECT key FROM said))
    SELECT s.memory_id, array_agg(t.word) FROM said AS s JOIN stem AS t ON t.key = s.key GROUP BY 1
$$;
