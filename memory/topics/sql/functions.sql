-- How topics follow memories between two nights; run with search_path = "<schema>", public.

-- Let memories leave topics of places where they are no more, and join the nearest topic of theirs by
-- the active model, if one reaches so far. Sorting holds the same lock alone while it writes, and waits
-- for nothing then that a writer of memories holds.
CREATE OR REPLACE FUNCTION follow_topics(ids uuid[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM memory_topic) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(current_schema() || ':topics', 0));
    DELETE FROM memory_topicmember AS b USING memory_memory AS m, memory_topic AS t
    WHERE b.memory_id = ANY (ids) AND m.id = b.memory_id AND t.id = b.topic_id
      AND (m.status <> 'active' OR m.stale_at IS NOT NULL OR m.audience <> t.audience
           OR m.project_id IS DISTINCT FROM t.project_id);
    INSERT INTO memory_topicmember (memory_id, topic_id, holds, closeness)
    SELECT m.id, near.id, held.bits, near.closeness
    FROM memory_embeddingmodel AS e
    JOIN memory_memoryvector AS v ON v.model_id = e.id AND v.memory_id = ANY (ids) AND v.live
    JOIN memory_memory AS m ON m.id = v.memory_id
    CROSS JOIN LATERAL (
        SELECT t.id, t.words, -(t.center <#> v.unit)::float8 AS closeness FROM memory_topic AS t
        WHERE t.audience = m.audience AND t.project_id IS NOT DISTINCT FROM m.project_id
          -- CASE: centers of other models have other dimensions and cannot be compared.
          AND CASE WHEN t.model_id = e.id THEN -(t.center <#> v.unit) >= t.reach END
        ORDER BY t.center <#> v.unit, t.id LIMIT 1) AS near
    CROSS JOIN LATERAL (
        SELECT coalesce(bit_or(1 << (w.place::int - 1)), 0) AS bits
        FROM unnest(near.words) WITH ORDINALITY AS w(word, place)
        -- A word of a topic is letters, digits, _ and -, singular or plural: see memory/topics/clustering.
        WHERE m.content ~* ('(^|[^[:alnum:]_-])' || regexp_replace(w.word, '(..[^suiao])s$', '\1', 'i')
                            || 's?([^[:alnum:]_-]|$)')) AS held
    WHERE e.active
      AND NOT EXISTS (SELECT FROM memory_topicmember AS b WHERE b.memory_id = m.id)
    ON CONFLICT (memory_id) DO NOTHING;
END $$;

-- How many live memories a topic of a scope has, and how many of those have each of its words: by the
-- foreign key's index and primary keys. It is inlined where it is called.
CREATE OR REPLACE FUNCTION count_members(topic uuid, scope uuid, project uuid)
RETURNS TABLE (memories int, held bigint[]) LANGUAGE sql STABLE AS $$
    SELECT count(*)::int,
           ARRAY[count(*) FILTER (WHERE b.holds & 1 <> 0), count(*) FILTER (WHERE b.holds & 2 <> 0),
                 count(*) FILTER (WHERE b.holds & 4 <> 0), count(*) FILTER (WHERE b.holds & 8 <> 0),
                 count(*) FILTER (WHERE b.holds & 16 <> 0), count(*) FILTER (WHERE b.holds & 32 <> 0),
                 count(*) FILTER (WHERE b.holds & 64 <> 0), count(*) FILTER (WHERE b.holds & 128 <> 0)]
    FROM memory_topicmember AS b
    JOIN memory_memorykeyword AS k ON k.memory_id = b.memory_id AND k.live
        AND k.audience = scope AND k.project_id IS NOT DISTINCT FROM project
    WHERE b.topic_id = topic
$$;

-- The topic that a question is nearest to, of those that one may see, that it reaches and of which a word
-- is told, with its cosine; NULL where none is. Of projects and of none, or all. As query `told` has it
-- (topics.sql).
CREATE OR REPLACE FUNCTION nearest_topic(
    model smallint, query halfvec, audiences uuid[], bound uuid[], within uuid[]) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    most CONSTANT int := 5;  -- of the nearest
    least CONSTANT int := 2;  -- memories that must have a word, for it to be told: LEAST_HOLDERS of clustering.py
    near record;
    told jsonb;
BEGIN
    FOR near IN
        SELECT t.id, -(t.center <#> query)::float8 AS closeness FROM memory_topic AS t
        WHERE t.audience = ANY (audiences) AND (bound IS NULL OR t.project_id = ANY (bound))
          AND (within IS NULL OR t.project_id IS NULL OR t.project_id = ANY (within))
          -- CASE: centers of other models have other dimensions and cannot be compared.
          AND CASE WHEN t.model_id = model THEN -(t.center <#> query) >= t.reach END
        ORDER BY t.center <#> query, t.id LIMIT most
    LOOP
        SELECT jsonb_build_array(jsonb_build_array(
            t.id, t.audience, t.project_id, p.slug, t.words, n.memories, n.held, t.sorted_at), near.closeness)
        INTO told
        FROM memory_topic AS t
        LEFT JOIN teams_project AS p ON p.id = t.project_id
        CROSS JOIN LATERAL count_members(t.id, t.audience, t.project_id) AS n
        WHERE t.id = near.id AND least <= ANY (n.held);
        EXIT WHEN told IS NOT NULL;
    END LOOP;
    RETURN told;
END $$;
