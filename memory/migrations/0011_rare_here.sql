-- How rare words are where a search looks; run with search_path = "<schema>", public.

-- The same as `asking_of` for everything, of a search of some projects: what counts is how rare a word is
-- in them and in what is of none. The name that each turn of a conversation begins with tells nothing
-- among its turns, however rare it is elsewhere. Counted in are fifty memories that are like all
-- that may be seen, for those of a young project tell little and may not be counted yet.
CREATE FUNCTION asking_of(query text, audiences uuid[], bound uuid[], projects uuid[]) RETURNS asking
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    usual CONSTANT float8 := 50;  -- memories
    given asking := asking_of(query, audiences, bound);
BEGIN
    IF projects IS NULL OR given.words IS NULL THEN RETURN given; END IF;
    given.idfs := ARRAY(
        WITH counted AS MATERIALIZED (
            SELECT l.word, sum(l.documents)::float8 AS everywhere,
                   coalesce(sum(l.documents) FILTER (
                       WHERE l.project_id IS NULL OR l.project_id = ANY (projects)), 0)::float8 AS here
            FROM memory_lexeme AS l
            WHERE l.word = ANY (given.lexemes || ''::text) AND l.audience = ANY (audiences)
              AND (bound IS NULL OR l.project_id = ANY (bound))
            GROUP BY 1),
        total AS (
            SELECT coalesce(max(everywhere), 0) AS everywhere, coalesce(max(here), 0) AS here
            FROM counted WHERE word = ''),
        each_word AS (
            SELECT w.at, w.idf, w.documents, greatest(t.everywhere, w.documents, 1) AS everything,
                   t.here + usual AS counted, coalesce(c.here, 0) AS here
            FROM unnest(given.lexemes, given.documents, given.idfs)
                WITH ORDINALITY AS w(lexeme, documents, idf, at)
            CROSS JOIN total AS t LEFT JOIN counted AS c ON c.word = w.lexeme),
        smoothed AS (
            SELECT at, idf, documents, everything, counted,
                   least(counted, here + usual * documents / everything) AS holders
            FROM each_word)
        SELECT idf * ln(1 + (counted - holders + 0.5) / (holders + 0.5))
                   / ln(1 + (everything - documents + 0.5) / (documents + 0.5))
        FROM smoothed ORDER BY at);
    given.weights := (
        SELECT ('{' || string_agg(word || ':' || round(idf::numeric, 4), ',' ORDER BY word)
                || '}/268435456')::sparsevec
        FROM (SELECT word, max(idf) AS idf FROM unnest(given.words, given.idfs) AS w(word, idf)
              GROUP BY 1) AS each);
    RETURN given;
END $$;

-- Searches ask so; the rest of the function is as it was.
DO $$
DECLARE
    was text := pg_get_functiondef('find_candidates'::regproc);
    now text := replace(was, 'asking_of(words, audiences, bound)', 'asking_of(words, audiences, bound, projects)');
BEGIN
    ASSERT now <> was, 'find_candidates asks in another way';
    EXECUTE now;
END $$;
