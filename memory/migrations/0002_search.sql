-- Search objects of one organization's schema; run with search_path = "<schema>", public.

-- The vectors a scan reads stay in the row: a value moved out of line costs ten times the scan.
ALTER TABLE memory_memoryvector ALTER COLUMN unit SET STORAGE PLAIN;
ALTER TABLE memory_memoryvector ALTER COLUMN whole SET STORAGE EXTERNAL;
ALTER TABLE memory_memorykeyword ALTER COLUMN lexemes SET STORAGE EXTERNAL;

-- A vector has the dimensions of its model, so vectors of two models cannot meet in one comparison.
ALTER TABLE memory_memoryvector
    ADD CONSTRAINT memory_vector_dimensions CHECK (vector_dims(unit) = prefix_dimensions),
    ADD CONSTRAINT memory_vector_of_model FOREIGN KEY (model_id, prefix_dimensions)
        REFERENCES memory_embeddingmodel (id, prefix_dimensions);

-- Losing a minute of access counts in a crash is allowed; slowing every search for them is not.
ALTER TABLE memory_accesslog SET UNLOGGED;
ALTER TABLE memory_memoryusage SET (fillfactor = 70);

-- BM25 (Robertson and Zaragoza 2009) as an inner product: a memory's saturated, length-normalized
-- term frequencies against a query's inverse document frequencies. k1 = 0.6, b = 0.2 and an average
-- of 48 words were measured on short texts. A dimension is a hash of the word.
CREATE FUNCTION bm25_weights(words tsvector) RETURNS sparsevec
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        ('{' || string_agg(word || ':' || round(weight::numeric, 4), ',' ORDER BY word) || '}/268435456')::sparsevec,
        '{}/268435456'::sparsevec)
    FROM (
        SELECT (hashtextextended(lexeme, 0) & 268435455) + 1 AS word,
               max(tf * 1.6 / (tf + 0.6 * (0.8 + 0.2 * length / 48.0))) AS weight
        FROM (
            SELECT lexeme,
                   coalesce(cardinality(positions), 1)::float8 AS tf,
                   sum(coalesce(cardinality(positions), 1)) OVER ()::float8 AS length
            FROM unnest(words)
        ) AS counted
        GROUP BY 1
    ) AS weighted
$$;

-- A query's words with their inverse document frequencies among what the caller may see, so that
-- no score tells how often others wrote a word; one that nobody there used yet is the rarest.
CREATE FUNCTION query_words(query text, audiences uuid[], bound uuid[])
RETURNS TABLE (word bigint, idf float8) LANGUAGE sql STABLE AS $$
    WITH seen AS (
        SELECT l.word, sum(l.documents)::float8 AS documents
        FROM memory_lexeme AS l
        WHERE l.word = ANY (tsvector_to_array(to_tsvector('english', query)) || '{""}'::text[])
          AND l.audience = ANY (audiences) AND (bound IS NULL OR l.project_id = ANY (bound))
        GROUP BY l.word)
    SELECT (hashtextextended(asked.lexeme, 0) & 268435455) + 1,
           max(ln(1 + (greatest(coalesce(total.documents, 0), coalesce(known.documents, 0), 1)
                       - coalesce(known.documents, 0) + 0.5)
                      / (coalesce(known.documents, 0) + 0.5)))
    FROM unnest(tsvector_to_array(to_tsvector('english', query))) AS asked(lexeme)
    LEFT JOIN seen AS known ON known.word = asked.lexeme
    LEFT JOIN seen AS total ON total.word = ''
    GROUP BY 1
$$;

-- Candidates of one search, from all paths, with what fusion and the page need of each. Visibility
-- and filters stand inside every path, before its limit. It lives in the organization's schema so
-- that its plan is kept: a statement is planned anew whenever search_path differs from its last use.
-- `+ 0` keeps the exact scan away from a vector index, which loses rows under narrow filters.
CREATE FUNCTION find_candidates(
    model smallint, query halfvec, words text, audiences uuid[], bound uuid[], projects uuid[],
    types smallint[], moment timestamptz, dense_limit int, keyword_limit int)
RETURNS TABLE (memory_id uuid, cosine float8, bm25 float8, matched float8)
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
WITH each_word AS MATERIALIZED (
    SELECT q.word, q.idf, ('{' || q.word || ':1}/268435456')::sparsevec AS axis
    FROM query_words(words, audiences, bound) AS q WHERE q.idf > 0),
asked AS MATERIALIZED (
    SELECT ('{' || string_agg(word || ':' || round(idf::numeric, 4), ',' ORDER BY word) || '}/268435456')::sparsevec
               AS weights,
           sum(idf) AS mass
    FROM each_word),
dense AS MATERIALIZED (
    SELECT v.memory_id
    FROM memory_memoryvector AS v
    WHERE query IS NOT NULL AND v.model_id = model
      AND v.audience = ANY (audiences) AND (bound IS NULL OR v.project_id = ANY (bound))
      AND (projects IS NULL OR v.project_id IS NULL OR v.project_id = ANY (projects))
      AND (types IS NULL OR v.type_code = ANY (types))
      AND CASE WHEN moment IS NULL THEN v.live
          ELSE v.known_from <= moment AND (v.known_until IS NULL OR v.known_until > moment) END
    ORDER BY (v.unit <#> query) + 0, v.memory_id LIMIT dense_limit),
keyword AS MATERIALIZED (
    SELECT k.memory_id
    FROM memory_memorykeyword AS k, asked
    WHERE asked.weights IS NOT NULL
      AND k.audience = ANY (audiences) AND (bound IS NULL OR k.project_id = ANY (bound))
      AND (projects IS NULL OR k.project_id IS NULL OR k.project_id = ANY (projects))
      AND (types IS NULL OR k.type_code = ANY (types))
      AND CASE WHEN moment IS NULL THEN k.live
          ELSE k.known_from <= moment AND (k.known_until IS NULL OR k.known_until > moment) END
      AND (k.weights <#> asked.weights) < 0
    ORDER BY (k.weights <#> asked.weights), k.memory_id LIMIT keyword_limit),
found AS (SELECT memory_id FROM dense UNION SELECT memory_id FROM keyword)
SELECT found.memory_id,
       -(v.unit <#> query)::float8,
       -(k.weights <#> asked.weights)::float8,
       coalesce((SELECT sum(e.idf) FROM each_word AS e WHERE (k.weights <#> e.axis) < 0)
                / nullif(asked.mass, 0), 0)
FROM found CROSS JOIN asked
JOIN memory_memorykeyword AS k ON k.memory_id = found.memory_id
LEFT JOIN memory_memoryvector AS v ON v.memory_id = found.memory_id AND v.model_id = model;
END $$;
