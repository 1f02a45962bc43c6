-- Search objects of one organization's schema; run with search_path = "<schema>", public.

-- The vectors a scan reads stay in the row: a value moved out of line costs ten times the scan.
ALTER TABLE memory_memoryvector ALTER COLUMN unit SET STORAGE PLAIN;
ALTER TABLE memory_memoryvector ALTER COLUMN whole SET STORAGE EXTERNAL;
ALTER TABLE memory_memorykeyword ALTER COLUMN lexemes SET STORAGE EXTERNAL;
ALTER TABLE memory_memorykeyword ALTER COLUMN facets SET STORAGE MAIN;

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

-- Whether a text reads like French: more of its small words, elisions and accents than English ones.
CREATE FUNCTION is_french(text text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_count(lower(text), '\m(le|la|les|des|du|une|est|sont|dans|pour|avec|sur|que|qui|ne|pas'
               '|par|au|aux|ce|cette|ces|il|elle|nous|vous|et|sans|quand)\M'
               '|\m(l|d|n|c|j|qu)[''’]|[àâçèéêîôùû]')
        > regexp_count(lower(text), '\m(the|of|to|is|are|was|in|for|with|and|that|this|it|not|be|by|from'
               '|when|if|we|you|at|has|have|without|into)\M')
$$;

-- The words of a text as they are indexed: English stems, and of a French text the French ones too,
-- so that its technical words are found from both languages. French stems are marked as such: `cart`
-- is what English calls a basket and the stem of French cards. A text without any of the commonest
-- small words is not looked at twice.
CREATE FUNCTION words_of(text text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    english tsvector := to_tsvector('pg_catalog.english', text);
BEGIN
    IF english @@ 'le|la|les|l|des|du|une|est|sont|dans|pour|avec|sur|que|qui'::tsquery
        AND is_french(text)
    THEN
        RETURN english || array_to_tsvector(ARRAY(
            SELECT 'fr:' || lexeme FROM unnest(to_tsvector('pg_catalog.french', text))));
    END IF;
    RETURN english;
END $$;

-- The known words that a strange one may be, as stems with in how many memories they are, the
-- commonest first: two letters swapped, one doubled or not; of a long word also a letter less, more
-- or another behind the first (Damerau 1964). Short words one letter apart are mostly two words.
-- Each is looked for by index, one after another, whatever the planner thinks of it: joined with the
-- counts of a collection that has just grown, every stem was compared with every word.
CREATE FUNCTION near_words(strange text, audiences uuid[], bound uuid[])
RETURNS TABLE (lexeme text, documents float8) LANGUAGE plpgsql STABLE ROWS 2
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    letters CONSTANT text[] := string_to_array('abcdefghijklmnopqrstuvwxyzàâçèéêîôùû', NULL);
    long CONSTANT int := 7;  -- letters
BEGIN RETURN QUERY
    WITH cut AS (
        SELECT left(strange, at) AS head, left(substr(strange, at + 1), 1) AS next,
               substr(strange, at + 2) AS rest
        FROM generate_series(0, length(strange)) AS at),
    variant AS (
        SELECT head || left(rest, 1) || next || substr(rest, 2) AS text FROM cut
        UNION ALL SELECT head || next || next || rest FROM cut
        UNION ALL SELECT head || rest FROM cut
            WHERE next = right(head, 1) OR length(strange) >= long AND head <> ''
        UNION ALL SELECT head || sign || also || rest FROM cut, unnest(letters) AS sign,
                LATERAL (VALUES (''), (next)) AS kept(also)
            WHERE length(strange) >= long AND head <> ''),
    stem AS MATERIALIZED (SELECT DISTINCT (ts_lexize('english_stem', text))[1] AS word FROM variant)
    SELECT s.word, n.documents FROM stem AS s CROSS JOIN LATERAL (
        SELECT sum(l.documents)::float8 AS documents FROM memory_lexeme AS l
        WHERE l.audience = ANY (audiences) AND (bound IS NULL OR l.project_id = ANY (bound))
          AND l.word = s.word) AS n
    WHERE n.documents > 0 ORDER BY 2 DESC, 1 LIMIT 2;
END $$;

-- The words of a query, each with in how many memories that the caller may see it stands, so that
-- no score tells how often others wrote one. Of a French query the small words are left out; its
-- French stems stand beside the English ones, which count less where the French one is known. A
-- longer word that no such memory has is read as the nearest they have, for less; names with digits
-- or signs are left alone.
CREATE FUNCTION asked_words(query text, audiences uuid[], bound uuid[])
RETURNS TABLE (asked text, lexeme text, documents float8, worth float8) LANGUAGE sql STABLE AS $$
    WITH token AS MATERIALIZED (
        SELECT DISTINCT lower(t.token) AS word, (ts_lexize('english_stem', lower(t.token)))[1] AS stem,
               ts_lexize('french_stem', lower(t.token)) AS french
        FROM ts_parse('default', query) AS t
        WHERE t.tokid IN (1, 2) AND length(t.token) <= 60),
    given AS (
        SELECT lexeme AS asked, lexeme FROM unnest(tsvector_to_array(to_tsvector('english', query))) AS lexeme
        WHERE NOT is_french(query) OR lexeme NOT IN (
            SELECT stem FROM token WHERE french = '{}' AND stem IS NOT NULL)
        UNION SELECT stem, 'fr:' || french[1] FROM token WHERE is_french(query) AND french <> '{}' AND stem <> ''),
    counted AS MATERIALIZED (
        SELECT asked, lexeme, coalesce((
            SELECT sum(l.documents) FROM memory_lexeme AS l
            WHERE l.word = given.lexeme AND l.audience = ANY (audiences)
              AND (bound IS NULL OR l.project_id = ANY (bound))), 0)::float8 AS documents
        FROM given),
    strange AS (
        SELECT DISTINCT ON (t.stem) t.stem AS asked, t.word FROM token AS t
        WHERE length(t.word) BETWEEN 5 AND 20
          AND EXISTS (SELECT FROM memory_lexeme AS l WHERE l.word = '')
          AND (SELECT sum(c.documents) FROM counted AS c WHERE c.asked = t.stem) = 0
        ORDER BY t.stem, t.word LIMIT 4)
    SELECT c.asked, c.lexeme, c.documents, CASE WHEN c.lexeme = c.asked AND EXISTS (
        SELECT FROM counted AS f
        WHERE f.asked = c.asked AND f.lexeme <> f.asked AND f.documents > 0) THEN 0.3 ELSE 1.0 END
    FROM counted AS c
    UNION ALL SELECT s.asked, n.lexeme, n.documents, 0.5
    FROM strange AS s CROSS JOIN LATERAL near_words(s.word, audiences, bound) AS n
$$;

-- The same by hash, with inverse document frequencies; what nobody there wrote is the rarest. The
-- part of a word in the query is that of the form that is known.
CREATE FUNCTION asking_of(query text, audiences uuid[], bound uuid[]) RETURNS asking
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    given asking;
BEGIN
    WITH total AS (
        SELECT coalesce(sum(l.documents), 0)::float8 AS documents FROM memory_lexeme AS l
        WHERE l.word = '' AND l.audience = ANY (audiences)
          AND (bound IS NULL OR l.project_id = ANY (bound))),
    each_word AS MATERIALIZED (
        SELECT w.asked, w.lexeme, w.documents, (hashtextextended(w.lexeme, 0) & 268435455) + 1 AS word,
               w.worth * ln(1 + (greatest(total.documents, w.documents, 1) - w.documents + 0.5)
                                / (w.documents + 0.5)) AS idf,
               w.documents > 0 AND w.worth = 1 AS is_known
        FROM asked_words(query, audiences, bound) AS w CROSS JOIN total)
    SELECT array_agg(asked), array_agg(lexeme), array_agg(documents), array_agg(word), array_agg(idf),
           array_agg(is_known), (
               SELECT ('{' || string_agg(word || ':' || round(idf::numeric, 4), ',' ORDER BY word)
                       || '}/268435456')::sparsevec
               FROM (SELECT word, max(idf) AS idf FROM each_word GROUP BY 1) AS each)
    INTO given FROM each_word WHERE idf > 0;
    RETURN given;
END $$;

-- What a memory can be narrowed by, as numbers in one column: its tags, its files with every end of
-- their paths, its modules, who it is from, and its states. 64 bits: two of a million values meet once
-- in 40 million organizations.
CREATE FUNCTION facet(kind text, name text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashtextextended(kind || ':' || name, 0) $$;

-- A path as it is compared: small letters, without what stands before its first name.
CREATE FUNCTION bare_path(path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT lower(regexp_replace(path, '^(\.{0,2}/)+', '')) $$;

-- The path and every shorter end of it: `a/b/c.py`, `b/c.py`, `c.py`.
CREATE FUNCTION path_ends(path text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_string(names[first:], '/')
    FROM string_to_array(bare_path(path), '/') AS names, generate_subscripts(names, 1) AS first
$$;

-- The states that a memory is in, none of one that is just active; ended is what was active once.
CREATE FUNCTION states_of(status text, pinned boolean, in_review boolean, stale boolean) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_remove(ARRAY[
        nullif(status, 'active'), CASE WHEN status IN ('superseded', 'archived') THEN 'ended' END,
        CASE WHEN pinned THEN 'pinned' END, CASE WHEN in_review THEN 'review' END,
        CASE WHEN stale THEN 'stale' END], NULL)
$$;

-- Written with loops: a tenth of the time of one statement, once a memory that is written.
CREATE FUNCTION facets_of(
    tags text[], files text[], modules text[], author uuid, agent text, interface text, states text[])
RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    found bigint[] := '{}';
    name text;
BEGIN
    FOREACH name IN ARRAY tags LOOP found := found || facet('tag', name); END LOOP;
    FOREACH name IN ARRAY states LOOP found := found || facet('is', name); END LOOP;
    FOREACH name IN ARRAY modules LOOP found := found || facet('module', lower(name)); END LOOP;
    FOREACH name IN ARRAY ARRAY[author::text, agent, interface] LOOP
        IF name <> '' THEN found := found || facet('author', lower(name)); END IF;
    END LOOP;
    FOREACH name IN ARRAY files LOOP
        name := bare_path(name);
        found := found || facet('path', name);
        LOOP
            found := found || facet('end', name);
            EXIT WHEN strpos(name, '/') = 0;
            name := substr(name, strpos(name, '/') + 1);
        END LOOP;
    END LOOP;
    RETURN found;
END $$;

-- What the names around which the graph path looks may be facets of, and how much each is worth: the
-- very file, then a longer or shorter path to it, then a module.
CREATE FUNCTION near_facets(near text[])
RETURNS TABLE (name bigint, facet bigint, worth float8) LANGUAGE sql IMMUTABLE AS $$
    SELECT place, facet('path', bare_path(given)), 1.0
    FROM unnest(near) WITH ORDINALITY AS n(given, place)
    UNION ALL SELECT place, facet('end', bare_path(given)), 0.7
    FROM unnest(near) WITH ORDINALITY AS n(given, place)
    UNION ALL SELECT place, facet('path', ending), 0.7
    FROM unnest(near) WITH ORDINALITY AS n(given, place), path_ends(given) AS ending
    UNION ALL SELECT place, facet('module', lower(given)), 0.5
    FROM unnest(near) WITH ORDINALITY AS n(given, place)
$$;

-- The memories of some audiences that hold one of these facets, through index memory_kw_facets: one
-- look a facet for at most `most` of them, without asking what the planner thinks of it. With very
-- many facets, or where row-level security keeps the operator from its index
-- (accounts/sql/walls.sql), each memory is looked at once.
CREATE FUNCTION holders(wanted bigint[], audiences uuid[], bound uuid[], most int)
RETURNS TABLE (facet bigint, memory_id uuid)
LANGUAGE plpgsql STABLE ROWS 50 SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    IF cardinality(wanted) <= 1000
        AND (SELECT proleakproof FROM pg_proc WHERE oid = 'pg_catalog.arraycontains'::regproc)
    THEN RETURN QUERY
        SELECT w.facet, h.memory_id FROM unnest(wanted) AS w(facet)
        CROSS JOIN LATERAL (
            SELECT k.memory_id FROM memory_memorykeyword AS k
            WHERE k.facets @> ARRAY[w.facet] AND k.audience = ANY (holders.audiences)
              AND (bound IS NULL OR k.project_id = ANY (holders.bound)) LIMIT most) AS h;
    ELSE RETURN QUERY
        SELECT f.facet, h.memory_id FROM memory_memorykeyword AS h
        CROSS JOIN LATERAL unnest(h.facets) AS f(facet)
        WHERE h.audience = ANY (audiences) AND (bound IS NULL OR h.project_id = ANY (bound))
          AND f.facet IN (SELECT unnest(wanted));
    END IF;
END $$;

-- The memories of some audiences that have a file which is, ends in, or fits one of those wanted.
CREATE FUNCTION memories_of_files(files text[], globs text[], audiences uuid[])
RETURNS SETOF uuid LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    small text[] := ARRAY(SELECT lower(glob) FROM unnest(globs) AS glob);
BEGIN
    IF files IS NOT NULL THEN RETURN QUERY
        SELECT h.memory_id FROM holders(
            ARRAY(SELECT facet('end', bare_path(file)) FROM unnest(files) AS file), audiences, NULL, NULL) AS h;
    END IF;
    IF globs IS NOT NULL THEN RETURN QUERY
        SELECT m.id FROM memory_memory AS m
        WHERE m.audience = ANY (audiences) AND m.related_files <> '{}' AND EXISTS (
            SELECT FROM unnest(m.related_files) AS file WHERE '/' || bare_path(file) LIKE ANY (small));
    END IF;
END $$;

-- What a link hands on of the score at its other end: half, and more of a kind that the question is
-- about.
CREATE FUNCTION link_worth(kind text, confidence float8, kinds text[]) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT confidence * CASE WHEN kind = ANY (kinds) THEN 0.75 ELSE 0.5 END
$$;

-- Candidates of one search, from all paths, with what fusion and the page need of each. Visibility
-- and filters stand inside every path, before its limit: in 0002_scale.sql for meaning and words, here
-- for what lies around files. It lives in the organization's schema so that its plan is kept: a
-- statement is planned anew whenever search_path differs from its last use.
-- Tags, files, modules, states and author are looked up once, and only where one is given; without
-- states that are left out, only what is live is looked for. What lies around files is
-- worth less the more memories hold the file, and likewise of a thing that the question names; what
-- is linked to either is worth a part of it. What is in a topic of the first hits is worth what those
-- hits are, by their ranks, times how central it is in it; it is looked for where the profile counts it.
CREATE FUNCTION find_candidates(
    model smallint, query halfvec, words text, audiences uuid[], bound uuid[], projects uuid[],
    types smallint[], moment timestamptz, since timestamptz, until timestamptz, by_tags text[],
    by_files text[], by_globs text[], by_modules text[], by_author text, by_states text[],
    no_states text[], least_sure float8, most_sure float8, near text[], named text[], spelled text[],
    kinds text[], by_topics uuid[],
    dense_limit int, keyword_limit int, graph_limit int, named_limit int, topics_limit int)
RETURNS TABLE (
    memory_id uuid, cosine float8, bm25 float8, matched float8, graph float8, entities float8,
    communities float8)
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    wanted bigint[] := ARRAY(SELECT facet('tag', tag) FROM unnest(by_tags) AS tag)
        || ARRAY(SELECT facet('is', state) FROM unnest(by_states) AS state)
        || ARRAY(SELECT facet('author', lower(by_author)) WHERE by_author IS NOT NULL);
    of_files uuid[] := CASE WHEN by_files IS NOT NULL OR by_globs IS NOT NULL
        THEN ARRAY(SELECT memories_of_files(by_files, by_globs, audiences)) END;
    of_modules uuid[] := CASE WHEN by_modules IS NOT NULL THEN ARRAY(SELECT h.memory_id FROM holders(
        ARRAY(SELECT facet('module', lower(module)) FROM unnest(by_modules) AS module),
        audiences, NULL, NULL) AS h) END;
    filed uuid[] := CASE WHEN of_files IS NULL OR of_modules IS NULL
        THEN coalesce(of_files, of_modules)
        ELSE ARRAY(SELECT unnest(of_files) INTERSECT SELECT unnest(of_modules)) END;
    among uuid[] := CASE WHEN by_topics IS NULL THEN filed ELSE ARRAY(
        SELECT b.memory_id FROM memory_topicmember AS b
        WHERE b.topic_id = ANY (by_topics) AND (filed IS NULL OR b.memory_id = ANY (filed))) END;
    unwanted bigint[] := ARRAY(SELECT facet('is', state) FROM unnest(no_states) AS state);
    too_many CONSTANT int := 1000;  -- memories that hold a file; it says nothing of any then
    too_common CONSTANT int := 200;  -- memories that name a thing, likewise
    given asking := asking_of(words, audiences, bound);
    reached reached := reached_by(model, query, given, ROW(audiences, bound, projects, types, moment,
        since, until, wanted, unwanted, no_states IS NOT NULL, least_sure, most_sure, among, NULL
        )::narrowing, dense_limit, keyword_limit);
BEGIN RETURN QUERY
WITH each_word AS MATERIALIZED (
    SELECT w.asked, w.idf, w.is_known, ('{' || w.word || ':1}/268435456')::sparsevec AS axis
    FROM unnest(given.asked, given.words, given.idfs, given.known) AS w(asked, word, idf, is_known)),
asked AS MATERIALIZED (
    SELECT sum(own.idf) AS mass FROM (
        SELECT coalesce(max(idf) FILTER (WHERE is_known), max(idf)) AS idf
        FROM each_word GROUP BY asked) AS own),
seen AS NOT MATERIALIZED (
    SELECT k.memory_id, k.weights FROM memory_memorykeyword AS k
    WHERE k.audience = ANY (audiences)
      AND (bound IS NULL OR k.project_id = ANY (bound))
      AND (projects IS NULL OR k.project_id IS NULL OR k.project_id = ANY (projects))
      AND (types IS NULL OR k.type_code = ANY (types))
      AND CASE WHEN moment IS NULL THEN k.live OR no_states IS NOT NULL
          ELSE k.known_from <= moment AND (k.known_until IS NULL OR k.known_until > moment) END
      AND (since IS NULL OR k.known_from >= since) AND (until IS NULL OR k.known_from < until)
      AND (wanted = '{}' OR k.facets @> wanted) AND (unwanted = '{}' OR NOT k.facets && unwanted)
      AND (least_sure IS NULL AND most_sure IS NULL OR k.memory_id = ANY (
          SELECT m.id FROM memory_memory AS m WHERE m.id = k.memory_id
          AND m.confidence BETWEEN coalesce(least_sure, 0) AND coalesce(most_sure, 1)))
      AND (among IS NULL OR k.memory_id IN (SELECT unnest(among)))),
holder AS MATERIALIZED (
    SELECT h.facet, h.memory_id, count(*) OVER (PARTITION BY h.facet) AS holders
    FROM holders(ARRAY(SELECT DISTINCT facet FROM near_facets(near)), audiences, bound, too_many) AS h),
held AS MATERIALIZED (
    SELECT n.name, s.memory_id, max(n.worth) AS worth
    FROM near_facets(near) AS n
    JOIN holder AS h ON h.facet = n.facet AND h.holders < too_many
    JOIN seen AS s ON s.memory_id = h.memory_id
    GROUP BY 1, 2),
around AS MATERIALIZED (
    SELECT h.memory_id, sum(h.worth / (1 + ln(h.holders))) AS score
    FROM (SELECT *, count(*) OVER (PARTITION BY name) AS holders FROM held) AS h
    GROUP BY 1),
naming AS MATERIALIZED (
    SELECT n.name, n.memory_id, count(*) OVER (PARTITION BY n.name) AS namers
    FROM naming(named, audiences, bound, too_common) AS n),
naming_seen AS MATERIALIZED (
    SELECT n.name, s.memory_id, (s.weights <#> given.weights) AS distance
    FROM naming AS n JOIN seen AS s ON s.memory_id = n.memory_id
    WHERE n.namers < too_common),
entities AS MATERIALIZED (
    SELECT n.memory_id, sum(1 / (1 + ln(n.namers))) AS score, min(n.distance) AS distance
    FROM (SELECT *, count(*) OVER (PARTITION BY name) AS namers FROM naming_seen) AS n
    GROUP BY 1),
start AS MATERIALIZED (
    SELECT memory_id, max(score) AS score
    FROM (SELECT memory_id, score FROM around UNION ALL SELECT memory_id, score FROM entities) AS each
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50),
graph AS MATERIALIZED (
    SELECT reached.memory_id, max(reached.score) AS score FROM (
        SELECT memory_id, score FROM around
        UNION ALL SELECT s.memory_id, a.score * link_worth(l.kind, l.confidence, kinds)
        FROM start AS a JOIN memory_memorylink AS l ON l.source_id = a.memory_id
        JOIN seen AS s ON s.memory_id = l.target_id
        UNION ALL SELECT s.memory_id, a.score * link_worth(l.kind, l.confidence, kinds)
        FROM start AS a JOIN memory_memorylink AS l ON l.target_id = a.memory_id
        JOIN seen AS s ON s.memory_id = l.source_id
    ) AS reached GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT graph_limit),
hit AS MATERIALIZED (
    SELECT memory_id, max(1.0 / place) AS worth FROM (
        SELECT d.id AS memory_id, d.place FROM unnest(reached.dense[:5]) WITH ORDINALITY AS d(id, place)
        UNION ALL
        SELECT w.id, w.place FROM unnest(reached.keyword[:5]) WITH ORDINALITY AS w(id, place)) AS first
    GROUP BY 1),
topic AS MATERIALIZED (
    SELECT b.topic_id, sum(h.worth) AS worth
    FROM hit AS h JOIN memory_topicmember AS b ON b.memory_id = h.memory_id
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3),
found AS MATERIALIZED (
    SELECT memory_id FROM graph
    UNION (SELECT b.memory_id FROM topic AS t JOIN memory_topicmember AS b ON b.topic_id = t.topic_id
           JOIN seen AS s ON s.memory_id = b.memory_id
           ORDER BY t.worth * coalesce(b.closeness, 0.5) DESC, b.memory_id LIMIT topics_limit)
    UNION (SELECT memory_id FROM entities ORDER BY score DESC, distance, memory_id LIMIT named_limit)
    UNION SELECT unnest(reached.dense) UNION SELECT unnest(reached.keyword)),
spelling AS MATERIALIZED (
    SELECT * FROM spelled_otherwise(ARRAY(SELECT memory_id FROM found), named, spelled))
SELECT found.memory_id,
       -(v.unit <#> query)::float8,
       -(k.weights <#> given.weights)::float8,
       least(1, coalesce((SELECT sum(best.idf) FROM (
           SELECT max(e.idf) AS idf FROM each_word AS e
           WHERE (k.weights <#> e.axis) < 0 OR e.asked = ANY (s.words)
           GROUP BY e.asked) AS best) / nullif(asked.mass, 0), 0)),
       coalesce(g.score, 0)::float8,
       coalesce(e.score, 0)::float8,
       coalesce(t.worth * coalesce(b.closeness, 0.5), 0)::float8
FROM found CROSS JOIN asked
JOIN memory_memorykeyword AS k ON k.memory_id = found.memory_id
LEFT JOIN memory_memoryvector AS v ON v.memory_id = found.memory_id AND v.model_id = model
LEFT JOIN spelling AS s ON s.memory_id = found.memory_id
LEFT JOIN graph AS g ON g.memory_id = found.memory_id
LEFT JOIN entities AS e ON e.memory_id = found.memory_id
LEFT JOIN memory_topicmember AS b ON b.memory_id = found.memory_id
LEFT JOIN topic AS t ON t.topic_id = b.topic_id;
END $$;

-- What ranking looks at besides the paths, of the candidates of one search that may be seen: by primary
-- key, at most 215 rows. The identifiers asked for are looked for in everything a memory says of
-- itself, and by their keys in what it names. What a memory may be about, people to systems, is read with
-- its text. Ages are days, computed here: reading four moments a row took 7 % of the program's part of a
-- search. A function, like the next, because planning the statement took longer than running it.
CREATE FUNCTION evidence_of(
    ids uuid[], audiences uuid[], bound uuid[], identifiers text[], keys text[], with_text boolean, moment timestamptz)
RETURNS TABLE (
    id uuid, type varchar, source varchar, files varchar[], age float8, idle float8, accesses int,
    confidence float8, verification varchar, half_life float8, pinned boolean, tainted boolean,
    governance smallint, tags varchar[], missing float8, content text, things varchar[])
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
SELECT m.id, m.type, m.source, m.related_files,
       extract(epoch FROM moment - m.created_at)::float8 / 86400,
       extract(epoch FROM moment
               - greatest(m.updated_at, m.last_confirmed_at, u.last_accessed_at))::float8 / 86400,
       coalesce(u.access_count, 0), m.confidence, m.verification, m.decay_half_life_days, m.pinned,
       m.taint_reason <> '', m.governance, m.tags,
       (SELECT avg(CASE WHEN strpos(said.words, lower(i.identifier)) > 0 OR EXISTS (
            SELECT FROM memory_mention AS n WHERE n.memory_id = m.id AND n.key = i.key)
            THEN 0 ELSE 1 END)::float8
        FROM unnest(identifiers, keys) AS i(identifier, key)),
       CASE WHEN with_text THEN m.content ELSE '' END,
       CASE WHEN with_text THEN ARRAY(
           SELECT n.key FROM memory_mention AS n
           WHERE n.memory_id = m.id AND n.type_code <= 5) ELSE '{}' END
FROM memory_memory AS m
LEFT JOIN memory_memoryusage AS u ON u.memory_id = m.id
LEFT JOIN LATERAL (
    SELECT lower(concat_ws(' ', m.content, array_to_string(m.related_files, ' '),
                           array_to_string(m.related_modules, ' '), array_to_string(m.tags, ' ')))
    WHERE identifiers <> '{}') AS said(words) ON true
WHERE m.id = ANY (ids)
  AND m.audience = ANY (audiences) AND (bound IS NULL OR m.project_id = ANY (bound));
END $$;

-- The chosen memories that may be seen, whole; by primary key, at most 100 rows. With a moment, a note
-- that they were given out then: it goes to an unlogged table without an index, 0.05 ms.
CREATE FUNCTION views_of(ids uuid[], audiences uuid[], bound uuid[], given_out timestamptz)
RETURNS TABLE (
    memory memory_memory, project varchar, access_count int, last_accessed_at timestamptz,
    embedded boolean)
LANGUAGE plpgsql ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    seen uuid[] := ARRAY(
        SELECT m.id FROM memory_memory AS m
        WHERE m.id = ANY (ids) AND m.status <> 'deleted' AND m.audience = ANY (audiences)
          AND (bound IS NULL OR m.project_id = ANY (bound)));
BEGIN
    IF given_out IS NOT NULL AND seen <> '{}' THEN
        INSERT INTO memory_accesslog (at, memories) VALUES (given_out, seen);
    END IF;
    RETURN QUERY
    SELECT m, p.slug, u.access_count, u.last_accessed_at,
           EXISTS (SELECT FROM memory_memoryvector AS v
                   JOIN memory_embeddingmodel AS e ON e.id = v.model_id AND e.active
                   WHERE v.memory_id = m.id)
    FROM memory_memory AS m
    LEFT JOIN teams_project AS p ON p.id = m.project_id
    LEFT JOIN memory_memoryusage AS u ON u.memory_id = m.id
    WHERE m.id = ANY (seen);
END $$;
