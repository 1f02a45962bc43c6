-- How memories are read whole; run with search_path = "<schema>", public.

-- Forms until the first baseline of migrations.
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz, uuid, uuid);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean);
DROP FUNCTION IF EXISTS views_of(
    uuid[], uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean, boolean);

-- Those of some memories that are a side of an open conflict of which one may know: by the index of
-- the open ones, which are few. A side that waits for review or is tainted disputes nothing yet: else
-- an agent could weaken what a person said.
CREATE OR REPLACE FUNCTION disputed_among(ids uuid[], audiences uuid[], bound uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(pair.side), '{}') FROM memory_conflict AS c
    CROSS JOIN LATERAL (VALUES (c.older_id, c.newer_id), (c.newer_id, c.older_id)) AS pair(side, other)
    JOIN memory_memory AS o ON o.id = pair.other
    WHERE c.verdict = '' AND c.audience = ANY (audiences) AND (bound IS NULL OR c.project_id = ANY (bound))
      AND pair.side = ANY (ids) AND NOT (o.needs_review OR o.taint_reason <> '')
$$;

-- What contradicts some memories, of what may be seen, is active and waits for no review: at most 10 a
-- memory. Reads the two foreign key indexes of links; nearly always nothing. With the open conflict of
-- the two, by its key.
CREATE OR REPLACE FUNCTION disagreeing(ids uuid[], kinds text[], audiences uuid[], bound uuid[])
RETURNS TABLE (memory_id uuid, other_id uuid, type varchar, citation text, content text, conflict_id uuid)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT hit.id, l.other_id, l.type, l.citation, l.content,
           (SELECT c.id FROM memory_conflict AS c
            WHERE c.verdict = '' AND (c.older_id, c.newer_id) IN ((hit.id, l.other_id), (l.other_id, hit.id))
            LIMIT 1)
    FROM unnest(ids) AS hit(id)
    CROSS JOIN LATERAL (
        SELECT DISTINCT m.id AS other_id, m.type, m.citation, m.content
        FROM (SELECT target_id AS other FROM memory_memorylink
              WHERE source_id = hit.id AND kind = ANY (kinds)
              UNION ALL
              SELECT source_id FROM memory_memorylink
              WHERE target_id = hit.id AND kind = ANY (kinds)) AS e
        JOIN memory_memory AS m ON m.id = e.other
        WHERE m.audience = ANY (audiences) AND (bound IS NULL OR m.project_id = ANY (bound))
          AND m.status = 'active' AND NOT (m.needs_review OR m.taint_reason <> '')
        ORDER BY m.id LIMIT 10) AS l
$$;

-- The chosen memories that may be seen, whole; by primary key, at most 100 rows; with `kinds` of links that
-- contradict, what contradicts each of them too, as its `sides`. With a time, a note that they were given out
-- then, to whom, for which project they were ranked, and what the graph did to the first eight: it goes to an
-- unlogged table without an index, 0.05 ms. Of those that are `weak`, and of what contradicts only them,
-- nothing is noted.
CREATE OR REPLACE FUNCTION views_of(
    ids uuid[], audiences uuid[], bound uuid[], weak uuid[], kinds text[], given_out timestamptz, reader uuid,
    reader_token uuid, ranked_for uuid, took_part boolean, changed boolean, program boolean)
RETURNS TABLE (
    memory memory_memory, project varchar, access_count int, last_accessed_at timestamptz,
    given_count int, last_given_at timestamptz, embedded boolean, disputed boolean, sides jsonb)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    sided uuid[];
    others uuid[];
    shown jsonb[];
    told uuid[] := ids;
    seen uuid[];
    disputed uuid[];
    noted uuid[];
BEGIN
    IF kinds IS NOT NULL THEN
        SELECT array_agg(d.memory_id ORDER BY d.other_id), array_agg(d.other_id ORDER BY d.other_id), array_agg(
            jsonb_build_array(d.other_id, d.type, d.citation, d.content, d.conflict_id) ORDER BY d.other_id)
        INTO sided, others, shown FROM disagreeing(ids, kinds, audiences, bound) AS d;
        told := ids || others;
    END IF;
    seen := ARRAY(
        SELECT m.id FROM memory_memory AS m
        WHERE m.id = ANY (told)
          AND m.audience = ANY (audiences)
          AND m.status <> 'deleted'
          AND (bound IS NULL OR m.project_id = ANY (bound)));
    disputed := disputed_among(told, audiences, bound);
    IF given_out IS NOT NULL AND seen <> '{}' THEN
        noted := ARRAY(SELECT unnest(seen) INTERSECT (
            SELECT id FROM unnest(ids) AS one(id) WHERE id <> ALL (weak)
            UNION SELECT p.other FROM unnest(sided, others) AS p(id, other) WHERE p.id <> ALL (weak)));
        INSERT INTO memory_accesslog
            (at, memories, person, token, by_program, project_id, graph_took_part, graph_changed)
        VALUES (given_out, noted, reader, reader_token, program, ranked_for, took_part, changed);
    END IF;
    RETURN QUERY
    SELECT m, p.slug, u.access_count, u.last_accessed_at, u.given_count, u.last_given_at,
           EXISTS (SELECT FROM memory_memoryvector AS v
                   JOIN memory_embeddingmodel AS e ON e.id = v.model_id AND e.active
                   WHERE v.memory_id = m.id),
           m.id = ANY (disputed),
           (SELECT jsonb_agg(s.shown ORDER BY s.place)
            FROM unnest(sided, shown) WITH ORDINALITY AS s(id, shown, place) WHERE s.id = m.id)
    FROM memory_memory AS m
    LEFT JOIN teams_project AS p ON p.id = m.project_id
    LEFT JOIN memory_memoryusage AS u ON u.memory_id = m.id
    WHERE m.id = ANY (seen);
END $$;
