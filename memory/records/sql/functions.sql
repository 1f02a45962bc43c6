-- How memories are read whole; run with search_path = "<schema>", public.

-- Forms until the first baseline of migrations.
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz, uuid, uuid);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean);
DROP FUNCTION IF EXISTS views_of(uuid[], uuid[], uuid[], uuid[], timestamptz, uuid, uuid, uuid, boolean, boolean);

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

-- The chosen memories that may be seen, whole; by primary key, at most 100 rows. With a time, a note
-- that those noted were given out then, to whom, for which project they were ranked, and what the graph did to
-- the first eight: it goes to an unlogged table without an index, 0.05 ms.
CREATE OR REPLACE FUNCTION views_of(
    ids uuid[], audiences uuid[], bound uuid[], noted uuid[], given_out timestamptz, reader uuid,
    reader_token uuid, ranked_for uuid, took_part boolean, changed boolean, program boolean DEFAULT false)
RETURNS TABLE (
    memory memory_memory, project varchar, access_count int, last_accessed_at timestamptz,
    given_count int, last_given_at timestamptz, embedded boolean, disputed boolean)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    seen uuid[] := ARRAY(
        SELECT m.id FROM memory_memory AS m
        WHERE m.id = ANY (ids)
          AND m.audience = ANY (audiences)
          AND m.status <> 'deleted'
          AND (bound IS NULL OR m.project_id = ANY (bound)));
    sides uuid[] := disputed_among(ids, audiences, bound);
BEGIN
    noted := ARRAY(SELECT unnest(seen) INTERSECT SELECT unnest(noted));
    IF given_out IS NOT NULL AND seen <> '{}' THEN
        INSERT INTO memory_accesslog
            (at, memories, person, token, by_program, project_id, graph_took_part, graph_changed)
        VALUES (given_out, noted, reader, reader_token, program, ranked_for, took_part, changed);
    END IF;
    RETURN QUERY
    SELECT m, p.slug, u.access_count, u.last_accessed_at, u.given_count, u.last_given_at,
           EXISTS (SELECT FROM memory_memoryvector AS v
                   JOIN memory_embeddingmodel AS e ON e.id = v.model_id AND e.active
                   WHERE v.memory_id = m.id),
           m.id = ANY (sides)
    FROM memory_memory AS m
    LEFT JOIN teams_project AS p ON p.id = m.project_id
    LEFT JOIN memory_memoryusage AS u ON u.memory_id = m.id
    WHERE m.id = ANY (seen);
END $$;
