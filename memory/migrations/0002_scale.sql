-- How searches reach rows; run with search_path = "<schema>", public, before 0002_search.sql.
--
-- Statements are composed of the conditions there are: a condition that asks first whether it is
-- wanted costs each row as much as one that is, and a partial index serves only a statement that names
-- its predicate. Words are always looked up by the inverted index memory_kw_words.
--
-- Up to ten thousand live rows an exact scan of the vectors is as fast as any index, finds everything,
-- and costs writers nothing. Beyond, a job makes a graph over them (HNSW, Malkov and Yashunin 2018;
-- cairn.index_search in accounts/sql/walls.sql), and of words the rarest alone are looked up. Both lose
-- rows when a filter behind them is narrow, silently. So what is narrow is still read whole: a small
-- scope, a moment of the past, what has ended, a rare tag or file, and whatever an index left short of
-- its limit.

-- Whether the graph stands whole in this schema; one that is being made beside the work does not yet.
CREATE FUNCTION is_indexed(model smallint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_index AS i
        WHERE i.indisvalid AND i.indexrelid = to_regclass('memory_vector_near_' || model))
$$;

-- How many live memories the audiences and projects of a search hold, by the last count of words.
CREATE FUNCTION scope_size(audiences uuid[], bound uuid[], projects uuid[]) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(l.documents), 0) FROM memory_lexeme AS l
    WHERE l.word = '' AND l.audience = ANY (audiences)
      AND (bound IS NULL OR l.project_id = ANY (bound))
      AND (projects IS NULL OR l.project_id IS NULL OR l.project_id = ANY (projects))
$$;

-- What every scan of one search keeps to: facets that are all held (wanted) or none of them
-- (unwanted), not live ones alone (whole), ids among which it looks, and `few`, the ids that pass,
-- where they are few.
CREATE TYPE narrowing AS (
    audiences uuid[], bound uuid[], projects uuid[], types smallint[], moment timestamptz,
    since timestamptz, until timestamptz, wanted bigint[], unwanted bigint[], whole boolean,
    least_sure float8, most_sure float8, among uuid[], few uuid[]);

-- The words of a query, one a place: what was written, the stem that is looked for, in how many
-- memories it is, its hash and weight; and all weights as one vector, none where no word is known.
CREATE TYPE asking AS (
    asked text[], lexemes text[], documents float8[], words bigint[], idfs float8[], known boolean[],
    weights sparsevec);

-- The conditions on the facets of a row that are given; empty where none is.
CREATE FUNCTION facet_conditions(n narrowing, place text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(' AND ',
        CASE WHEN n.wanted <> '{}' THEN place || '.facets @> ($1).wanted' END,
        CASE WHEN n.unwanted <> '{}' THEN 'NOT ' || place || '.facets && ($1).unwanted' END)
$$;

-- Those conditions of a scan over rows `x` that are given; $1 is the narrowing.
CREATE FUNCTION conditions_of(n narrowing) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(' AND ', 'x.audience = ANY (($1).audiences)',
        CASE WHEN n.moment IS NOT NULL THEN 'x.known_from <= ($1).moment'
             ' AND (x.known_until IS NULL OR x.known_until > ($1).moment)'
             WHEN NOT n.whole THEN 'x.live' END,
        CASE WHEN n.bound IS NOT NULL THEN 'x.project_id = ANY (($1).bound)' END,
        CASE WHEN n.projects IS NOT NULL
             THEN '(x.project_id IS NULL OR x.project_id = ANY (($1).projects))' END,
        CASE WHEN n.types IS NOT NULL THEN 'x.type_code = ANY (($1).types)' END,
        CASE WHEN n.since IS NOT NULL THEN 'x.known_from >= ($1).since' END,
        CASE WHEN n.until IS NOT NULL THEN 'x.known_from < ($1).until' END,
        CASE WHEN n.few IS NOT NULL THEN 'x.memory_id = ANY (($1).few)'
             WHEN n.among IS NOT NULL THEN 'x.memory_id = ANY (($1).among)' END,
        CASE WHEN n.few IS NULL AND facet_conditions(n, 'f') <> ''
             THEN '(SELECT ' || facet_conditions(n, 'f') || ' FROM memory_memorykeyword AS f'
                  ' WHERE f.memory_id = x.memory_id)' END,
        CASE WHEN n.few IS NULL AND (n.least_sure IS NOT NULL OR n.most_sure IS NOT NULL)
             THEN '(SELECT m.confidence BETWEEN coalesce(($1).least_sure, 0)'
                  ' AND coalesce(($1).most_sure, 1) FROM memory_memory AS m'
                  ' WHERE m.id = x.memory_id)' END)
$$;

-- The ids that pass every filter, or none where they are more than `most`.
CREATE FUNCTION few_passing(n narrowing, most int) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    rest narrowing := n;
    ids uuid[];
BEGIN
    rest.wanted := '{}';
    rest.unwanted := '{}';
    EXECUTE format('SELECT array_agg(memory_id) FROM (SELECT x.memory_id FROM memory_memorykeyword AS'
        ' x WHERE %s LIMIT %s) AS passing',
        concat_ws(' AND ', nullif(facet_conditions(n, 'x'), ''), conditions_of(rest)), most + 1)
    INTO ids USING n;
    RETURN CASE WHEN coalesce(cardinality(ids), 0) <= most THEN coalesce(ids, '{}') END;
END $$;

-- The ids nearest to a vector, at most `most`. `+ 0` keeps the exact scan away from a vector index.
CREATE FUNCTION nearest_ids(model smallint, query halfvec, n narrowing, narrow boolean, most int)
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

-- The words to ask the index for: the rarest ones, together in at most `most` memories, and none that
-- could not lift a memory over the score `sure` with all that are commoner than it (MaxScore, Turtle and
-- Flood 1995; a weight stays below 1.6). Where even the rarest is in more, the two rarest at once, and
-- `words` is 0. What the others add, the weights still count.
CREATE FUNCTION rare_words(given asking, most float8, sure float8, OUT query tsquery, OUT words int)
LANGUAGE sql IMMUTABLE AS $$
    WITH counted AS (
        SELECT lexeme, max(documents) AS documents, max(idf) AS idf
        FROM unnest((given).lexemes, (given).documents, (given).idfs) AS w(lexeme, documents, idf)
        GROUP BY 1),
    ranked AS (
        SELECT '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''' AS word,
               row_number() OVER rarest_first AS place, sum(documents) OVER rarest_first AS together,
               1.61 * sum(idf) OVER (ORDER BY documents DESC, lexeme DESC) AS adds
        FROM counted WINDOW rarest_first AS (ORDER BY documents, lexeme))
    SELECT coalesce(
               string_agg(word, '|') FILTER (WHERE together <= most AND adds >= sure),
               string_agg(word, '&') FILTER (WHERE place <= 2))::tsquery,
           (count(*) FILTER (WHERE together <= most AND adds >= sure))::int
    FROM ranked
$$;

-- The ids that fit words best, at most `most`: those with the rarest words say how well one must fit,
-- and which of the other words can matter. A filter behind the rarest words that leaves too few has
-- every row with a word looked at; a whole large scope has not, since what is missing there are the
-- commonest words.
CREATE FUNCTION fitting_ids(given asking, n narrowing, narrow boolean, common int, most int)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    few CONSTANT int := 500;  -- memories looked at first
    everything CONSTANT float8 := 'infinity';
    is_filtered boolean := n.wanted <> '{}' OR n.among IS NOT NULL OR n.types IS NOT NULL
        OR n.since IS NOT NULL OR n.until IS NOT NULL OR n.least_sure IS NOT NULL
        OR n.most_sure IS NOT NULL;
    scan text := format('SELECT array_agg(memory_id), -max(distance) FROM ('
        ' SELECT x.memory_id, x.weights <#> $2 AS distance FROM memory_memorykeyword AS x'
        ' WHERE %s AND x.lexemes @@ $4 AND (x.weights <#> $2) < 0'
        ' ORDER BY distance, x.memory_id LIMIT $3) AS fitting', conditions_of(n));
    first record;
    more record;
    ids uuid[];
    least float8;
BEGIN
    first := rare_words(given, few, 0);
    EXECUTE scan INTO ids, least USING n, given.weights, most, first.query;
    more := rare_words(given, CASE WHEN narrow THEN everything ELSE common END,
                       CASE WHEN cardinality(ids) = most THEN least ELSE 0 END);
    IF more.words > first.words THEN
        EXECUTE scan INTO ids, least USING n, given.weights, most, more.query;
    END IF;
    IF NOT narrow AND is_filtered AND coalesce(cardinality(ids), 0) < most THEN
        more := rare_words(given, everything, 0);
        EXECUTE scan INTO ids, least USING n, given.weights, most, more.query;
    END IF;
    RETURN ids;
END $$;

-- What both paths found.
CREATE TYPE reached AS (dense uuid[], keyword uuid[]);

CREATE FUNCTION reached_by(
    model smallint, query halfvec, given asking, n narrowing, dense_limit int, keyword_limit int)
RETURNS reached LANGUAGE plpgsql STABLE AS $$
DECLARE
    most_few CONSTANT int := 20000;  -- rows that pass a filter, or hold a word, and are all looked at
    small CONSTANT int := 10000;  -- rows of a scope
    narrow boolean := n.moment IS NOT NULL OR n.whole OR NOT is_indexed(model)
        OR scope_size(n.audiences, n.bound, n.projects) <= small;
    found reached;
BEGIN
    IF n.wanted <> '{}' OR n.among IS NOT NULL
        OR NOT narrow AND (n.since IS NOT NULL OR n.until IS NOT NULL
                           OR n.least_sure IS NOT NULL OR n.most_sure IS NOT NULL) THEN
        n.few := few_passing(n, most_few);
        narrow := narrow OR n.few IS NOT NULL;
    END IF;
    IF query IS NOT NULL THEN
        found.dense := nearest_ids(model, query, n, narrow, dense_limit);
    END IF;
    IF given.weights IS NOT NULL THEN
        found.keyword := fitting_ids(given, n, narrow, most_few, keyword_limit);
    END IF;
    RETURN found;
END $$;
