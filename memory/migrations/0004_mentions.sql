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
