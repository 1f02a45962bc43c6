-- Searching a large organization; run with search_path = "<schema>", public, after 0002_search.sql.
--
-- Up to ten thousand live rows an exact scan is as fast as any index, finds everything, and costs
-- writers nothing. Beyond, a job makes two indexes (cairn.index_search in accounts/sql/walls.sql):
-- a graph over the vectors (HNSW, Malkov and Yashunin 2018) and an inverted one over the words. Both
-- lose rows when a filter behind them is narrow, silently. So what is narrow is still scanned
-- exactly: a small scope, a rare tag or file, and whatever an index left short of its limit.
-- Statements are composed of the conditions there are, because a partial index serves only a
-- statement that names its predicate.

-- Whether both stand whole in this schema; one that is being made beside the work does not yet.
CREATE FUNCTION is_indexed(model smallint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) = 2 FROM pg_index AS i
    WHERE i.indisvalid AND i.indexrelid IN (
        to_regclass('memory_vector_near_' || model), to_regclass('memory_kw_words'))
$$;

-- How many live memories the audiences and projects of a search hold, by the last count of words.
CREATE FUNCTION scope_size(audiences uuid[], bound uuid[], projects uuid[]) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(l.documents), 0) FROM memory_lexeme AS l
    WHERE l.word = '' AND l.audience = ANY (audiences)
      AND (bound IS NULL OR l.project_id = ANY (bound))
      AND (projects IS NULL OR l.project_id IS NULL OR l.project_id = ANY (projects))
$$;

-- Whether a search keeps to projects that are a small part of what its organization has, so that
-- statements composed for it, which read those rows alone, are worth being planned anew.
CREATE FUNCTION is_small_part(audiences uuid[], bound uuid[], projects uuid[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT (bound IS NOT NULL OR projects IS NOT NULL) AND total.documents >= 4000
        AND scope_size(audiences, bound, projects) <= least(10000, total.documents / 4)
    FROM (SELECT coalesce(sum(documents), 0) AS documents FROM memory_lexeme WHERE word = '') AS total
$$;

-- What every scan of one search keeps to; `few` are the ids that pass, where they are few.
CREATE TYPE narrowing AS (
    audiences uuid[], bound uuid[], projects uuid[], types smallint[], since timestamptz,
    until timestamptz, wanted bigint[], of_files uuid[], few uuid[]);

-- Those conditions of a scan over rows `x` that are given; $1 is the narrowing.
CREATE FUNCTION conditions_of(n narrowing) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(' AND ', 'x.live AND x.audience = ANY (($1).audiences)',
        CASE WHEN n.bound IS NOT NULL THEN 'x.project_id = ANY (($1).bound)' END,
        CASE WHEN n.projects IS NOT NULL
             THEN '(x.project_id IS NULL OR x.project_id = ANY (($1).projects))' END,
        CASE WHEN n.types IS NOT NULL THEN 'x.type_code = ANY (($1).types)' END,
        CASE WHEN n.since IS NOT NULL THEN 'x.known_from >= ($1).since' END,
        CASE WHEN n.until IS NOT NULL THEN 'x.known_from < ($1).until' END,
        CASE WHEN n.few IS NOT NULL THEN 'x.memory_id = ANY (($1).few)'
             WHEN n.of_files IS NOT NULL THEN 'x.memory_id = ANY (($1).of_files)' END,
        CASE WHEN n.few IS NULL AND n.wanted <> '{}'
             THEN '(SELECT f.facets @> ($1).wanted FROM memory_memorykeyword AS f'
                  ' WHERE f.memory_id = x.memory_id)' END)
$$;

-- The ids that pass tags, files, author and time, or none where they are more than `most`.
CREATE FUNCTION few_passing(n narrowing, most int) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    rest narrowing := n;
    ids uuid[];
BEGIN
    rest.wanted := '{}';
    EXECUTE format('SELECT array_agg(memory_id) FROM (SELECT x.memory_id FROM memory_memorykeyword AS'
        ' x WHERE %s%s LIMIT %s) AS passing',
        CASE WHEN n.wanted <> '{}' THEN 'x.facets @> ($1).wanted AND ' END, conditions_of(rest), most + 1)
    INTO ids USING n;
    RETURN CASE WHEN coalesce(cardinality(ids), 0) <= most THEN coalesce(ids, '{}') END;
END $$;

-- The ids nearest to a vector, at most `most`.
CREATE FUNCTION dense_at_scale(model smallint, query halfvec, n narrowing, narrow boolean, most int)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    scan text := format('SELECT array_agg(memory_id) FROM (SELECT x.memory_id FROM'
        ' memory_memoryvector AS x WHERE x.model_id = %s AND %s ORDER BY', model, conditions_of(n));
    ids uuid[];
BEGIN
    IF NOT narrow THEN
        PERFORM set_config(name, value, true) FROM (VALUES ('hnsw.ef_search', '200'),
            ('hnsw.iterative_scan', 'relaxed_order'), ('hnsw.max_scan_tuples', '20000')) AS s(name, value);
        EXECUTE format('%s x.unit::halfvec(%s) <#> $2::halfvec(%2$s) LIMIT $3) AS near',
            scan, vector_dims(query)) INTO ids USING n, query, most;
    END IF;
    IF coalesce(cardinality(ids), 0) < most THEN
        EXECUTE scan || ' (x.unit <#> $2) + 0, x.memory_id LIMIT $3) AS near'
        INTO ids USING n, query, most;
    END IF;
    RETURN ids;
END $$;

-- The ids that fit words best, at most `most`. A filter behind the index that leaves too few has
-- every row looked at; a whole scope has not, since what is missing there are the commonest words.
CREATE FUNCTION keyword_at_scale(
    words text, weights sparsevec, n narrowing, narrow boolean, common bigint, most int)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    is_filtered boolean := n.wanted <> '{}' OR n.of_files IS NOT NULL OR n.types IS NOT NULL
        OR n.since IS NOT NULL OR n.until IS NOT NULL;
    scan text := format('SELECT array_agg(memory_id) FROM (SELECT x.memory_id FROM'
        ' memory_memorykeyword AS x WHERE %s AND', conditions_of(n));
    best text := ' (x.weights <#> $2) < 0 ORDER BY x.weights <#> $2, x.memory_id LIMIT $3) AS fitting';
    ids uuid[];
BEGIN
    IF NOT narrow THEN
        EXECUTE scan || ' x.lexemes @@ $4 AND' || best
        INTO ids USING n, weights, most, rare_words(words, n.audiences, n.bound, common);
    END IF;
    IF narrow OR is_filtered AND coalesce(cardinality(ids), 0) < most THEN
        EXECUTE scan || best INTO ids USING n, weights, most;
    END IF;
    RETURN ids;
END $$;

-- What both paths found.
CREATE TYPE reached AS (dense uuid[], keyword uuid[]);

CREATE FUNCTION reached_at_scale(
    model smallint, query halfvec, words text, n narrowing, dense_limit int, keyword_limit int)
RETURNS reached LANGUAGE plpgsql STABLE AS $$
DECLARE
    most_few CONSTANT int := 20000;  -- rows that pass a filter, or hold a word, and are all looked at
    small CONSTANT int := 10000;  -- rows of a scope
    weights sparsevec := query_weights(words, n.audiences, n.bound);
    narrow boolean := scope_size(n.audiences, n.bound, n.projects) <= small;
    found reached;
BEGIN
    IF NOT narrow AND (n.wanted <> '{}' OR n.of_files IS NOT NULL OR n.since IS NOT NULL
        OR n.until IS NOT NULL) THEN
        n.few := few_passing(n, most_few);
        narrow := n.few IS NOT NULL;
    END IF;
    IF query IS NOT NULL THEN
        found.dense := dense_at_scale(model, query, n, narrow, dense_limit);
    END IF;
    IF weights IS NOT NULL THEN
        found.keyword := keyword_at_scale(words, weights, n, narrow, most_few, keyword_limit);
    END IF;
    RETURN found;
END $$;
