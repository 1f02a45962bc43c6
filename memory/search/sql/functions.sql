-- The functions that searches call, in one organization's schema: how words are weighed, how rows are
-- reached, and how the paths of a search become candidates. Applied again whenever this file changes;
-- run with search_path = "<schema>", public. A function whose parameters or result change needs a DROP
-- above it here, since CREATE OR REPLACE would keep the old one beside it.
--
-- Statements are composed of the conditions there are: a condition that asks first whether it is
-- wanted costs each row as much as one that is, and a partial index serves only a statement that names
-- its predicate. Words are always looked up by the inverted index memory_kw_words.
--
-- Up to ten thousand live rows an exact scan of the vectors is as fast as any index, finds everything,
-- and costs writers nothing. Beyond, a job makes a graph over them (HNSW, Malkov and Yashunin 2018;
-- cairn.index_search in accounts/tenancy/rls.sql), and of words the rarest alone are looked up. Both lose
-- rows when a filter behind them is narrow, silently. So what is narrow is still read whole: a small
-- scope, a moment of the past, what has ended, a rare tag or file, and whatever an index left short of
-- its limit.

-- Types cannot be replaced; what takes or returns them goes with them and is made again below.
DROP FUNCTION IF EXISTS evidence_of(uuid[], uuid[], uuid[], text[], text[], boolean, timestamptz);
DROP FUNCTION IF EXISTS find_candidates(smallint, halfvec, search_request);
DROP TYPE IF EXISTS scan_filter, query_words, path_hits, search_request, evidence CASCADE;

-- ---- Types ----

-- What every scan of one search keeps to: facets that are all held (wanted) or none of them
-- (unwanted), not live ones alone (whole), ids among which it looks, `few`, the ids that pass, where
-- they are few, and ids that it leaves out (without).
CREATE TYPE scan_filter AS (
    audiences uuid[], bound uuid[], projects uuid[], types smallint[], moment timestamptz,
    since timestamptz, until timestamptz, wanted bigint[], unwanted bigint[], whole boolean,
    least_sure float8, most_sure float8, among uuid[], few uuid[], without uuid[]);

-- The words of a query, one a place: what was written, the stem that is looked for, in how many
-- memories it is, its hash and weight; and all weights as one vector, none where no word is known.
CREATE TYPE query_words AS (
    asked text[], lexemes text[], documents float8[], words bigint[], idfs float8[], known boolean[],
    weights sparsevec);

-- What both paths of a scan found.
CREATE TYPE path_hits AS (dense uuid[], keyword uuid[]);

-- What one search asks for. Filters that are NULL let everything through: tags all of, files and globs
-- any of, modules any of, learned at or after `since` and before `until`; with `moment` what was known
-- then. `near` are paths and code names around which the graph path looks, `named` the keys of things
-- that may be named, `spelled` the words of the question that name them, `kinds` those of links that
-- the question is about. Who asks `in_work` is not given what is out of reach of their session and unit
-- of work, and of the files and modules `here`. Limits are memories a path. Of what is found evidence is
-- read as of `now`: which of `identifiers` it lacks, with their keys, with or without its text; and what
-- stands beside it in a conversation, where that is wanted.
CREATE TYPE search_request AS (
    words text, audiences uuid[], bound uuid[], projects uuid[], types smallint[],
    moment timestamptz, since timestamptz, until timestamptz, by_tags text[], by_files text[],
    by_globs text[], by_modules text[], by_author text, by_states text[], no_states text[],
    least_sure float8, most_sure float8, near text[], named text[], spelled text[], kinds text[],
    by_topics uuid[], in_work boolean, own_session uuid, unit text, here text[], dense_limit int, keyword_limit int, graph_limit int, named_limit int,
    topics_limit int, identifiers text[], keys text[], with_text boolean, with_beside boolean, now timestamptz);

-- What ranking looks at besides the paths, of one memory; ages are days.
CREATE TYPE evidence AS (
    id uuid, type varchar, source varchar, files varchar[], age float8, idle float8, accesses int,
    confidence float8, floor float8, disputed boolean, verification varchar, half_life float8, pinned boolean,
    tainted boolean, conversation boolean, governance smallint, tags varchar[], missing float8, content text, things varchar[]);

-- ---- Words ----

-- BM25 (Robertson and Zaragoza 2009) as an inner product: a memory's saturated, length-normalized
-- term frequencies against a query's inverse document frequencies. k1 = 0.6, b = 0.2 and an average
-- of 48 words were measured on short texts. A dimension is a hash of the word.
CREATE OR REPLACE FUNCTION bm25_weights(words tsvector) RETURNS sparsevec
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
CREATE OR REPLACE FUNCTION is_french(text text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
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
CREATE OR REPLACE FUNCTION words_of(text text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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
CREATE OR REPLACE FUNCTION near_words(strange text, audiences uuid[], bound uuid[])
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
-- or signs are left alone. A day on which nothing happened tells nothing and is left out.
CREATE OR REPLACE FUNCTION asked_words(query text, audiences uuid[], bound uuid[])
RETURNS TABLE (asked text, lexeme text, documents float8, worth float8) LANGUAGE sql STABLE AS $$
    WITH token AS MATERIALIZED (
        SELECT DISTINCT lower(t.token) AS word, (ts_lexize('english_stem', lower(t.token)))[1] AS stem,
               ts_lexize('french_stem', lower(t.token)) AS french
        FROM ts_parse('default', query) AS t
        WHERE t.tokid IN (1, 2) AND length(t.token) <= 60),
    given AS (
        SELECT lexeme AS asked, lexeme FROM unnest(tsvector_to_array(to_tsvector('english', query))) AS lexeme
        WHERE (NOT is_french(query) OR lexeme NOT IN (
            SELECT stem FROM token WHERE french = '{}' AND stem IS NOT NULL))
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
    FROM counted AS c WHERE c.documents > 0 OR c.lexeme !~ '^day[0-9]{8}$'
    UNION ALL SELECT s.asked, n.lexeme, n.documents, 0.5
    FROM strange AS s CROSS JOIN LATERAL near_words(s.word, audiences, bound) AS n
$$;

-- The same by hash, with inverse document frequencies; what nobody there wrote is the rarest. The
-- part of a word in the query is that of the form that is known.
CREATE OR REPLACE FUNCTION query_words_everywhere(query text, audiences uuid[], bound uuid[]) RETURNS query_words
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    given query_words;
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
CREATE OR REPLACE FUNCTION facet(kind text, name text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashtextextended(kind || ':' || name, 0) $$;

-- A path as it is compared: small letters, without what stands before its first name.
CREATE OR REPLACE FUNCTION bare_path(path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT lower(regexp_replace(path, '^(\.{0,2}/)+', '')) $$;

-- The path and every shorter end of it: `a/b/c.py`, `b/c.py`, `c.py`.
CREATE OR REPLACE FUNCTION path_ends(path text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_string(names[first:], '/')
    FROM string_to_array(bare_path(path), '/') AS names, generate_subscripts(names, 1) AS first
$$;

-- The states that a memory is in, none of one that is just active; ended is what was active once.
CREATE OR REPLACE FUNCTION states_of(status text, pinned boolean, in_review boolean, stale boolean) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_remove(ARRAY[
        nullif(status, 'active'), CASE WHEN status IN ('superseded', 'archived') THEN 'ended' END,
        CASE WHEN pinned THEN 'pinned' END, CASE WHEN in_review THEN 'review' END,
        CASE WHEN stale THEN 'stale' END], NULL)
$$;

-- Written with loops: a tenth of the time of one statement, once a memory that is written.
CREATE OR REPLACE FUNCTION facets_of(
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
CREATE OR REPLACE FUNCTION near_facets(near text[])
RETURNS TABLE (name bigint, facet bigint, worth float8) LANGUAGE sql IMMUTABLE AS $$
    SELECT place, f.facet, f.worth FROM unnest(near) WITH ORDINALITY AS n(given, place),
    LATERAL (SELECT facet('path', bare_path(given)), 1.0
             UNION ALL SELECT facet('end', bare_path(given)), 0.7
             UNION ALL SELECT facet('path', ending), 0.7 FROM path_ends(given) AS ending
             UNION ALL SELECT facet('module', lower(given)), 0.5) AS f(facet, worth)
$$;

-- The memories of some audiences that hold one of these facets, through index memory_kw_facets: one
-- look a facet for at most `most` of them, without query_words what the planner thinks of it. With very
-- many facets, or where row-level security keeps the operator from its index
-- (accounts/tenancy/rls.sql), each memory is looked at once.
CREATE OR REPLACE FUNCTION holders(wanted bigint[], audiences uuid[], bound uuid[], most int)
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

-- Whether the work of a unit is within another one: that very unit, or one below it by its hierarchy,
-- whose steps are divided by a sign. Of a unit without a hierarchy the label says which it is.
CREATE OR REPLACE FUNCTION is_within(unit jsonb, other jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(other->>'methodology', ''), unit->>'methodology', '') = coalesce(unit->>'methodology', '')
       AND CASE WHEN other->>'hierarchy' <> ''
                THEN starts_with(coalesce(unit->>'hierarchy', ''), other->>'hierarchy')
                     AND substr(unit->>'hierarchy', length(other->>'hierarchy') + 1) ~ '^($|\s*[/>.:])'
                ELSE coalesce(nullif(other->>'label', ''), unit->>'label', '') = coalesce(unit->>'label', '') END
$$;

-- The memories that somebody who works is not given: what their own session wrote, its notes for itself
-- apart, and what applies in another session, in another unit of work, or to other files and modules.
-- By indexes memory_session and memory_limited. Without `here` no file matters. What is of a module and names neither files nor
-- modules, or of a unit that nobody named, applies everywhere.
CREATE OR REPLACE FUNCTION out_of_reach(own uuid, unit text, here text[], audiences uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    near bigint[] := ARRAY(SELECT f.facet FROM near_facets(here) AS f);  -- once, not once a memory
    work jsonb := coalesce(unit, '{}')::jsonb;
BEGIN RETURN QUERY
    SELECT m.id FROM memory_memory AS m
    WHERE m.session_id = own AND m.audience = ANY (audiences) AND m.reach <> 'session'
    UNION ALL
    SELECT m.id FROM memory_memory AS m
    WHERE m.reach <> 'global' AND m.audience = ANY (audiences) AND CASE m.reach
        WHEN 'session' THEN own IS NULL OR m.session_id IS DISTINCT FROM own
        WHEN 'work_unit' THEN NOT is_within(work, m.work_unit)
        WHEN 'module' THEN here IS NOT NULL AND (m.related_files <> '{}' OR m.related_modules <> '{}') AND NOT EXISTS (
            SELECT FROM memory_memorykeyword AS k WHERE k.memory_id = m.id
            AND k.facets && near) END;
END $$;

-- The memories of some audiences that have a file which is, ends in, or fits one of those wanted.
CREATE OR REPLACE FUNCTION memories_of_files(files text[], globs text[], audiences uuid[])
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
CREATE OR REPLACE FUNCTION link_worth(kind text, confidence float8, kinds text[]) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT confidence * CASE WHEN kind = ANY (kinds) THEN 0.75 ELSE 0.5 END
$$;

-- The words of a query as a search of some projects weighs them: what counts is how rare a word is in
-- them and in what is of none. The name that each turn of a conversation begins with tells nothing
-- among its turns, however rare it is elsewhere. Counted in are fifty memories that are like all
-- that may be seen, for those of a young project tell little and may not be counted yet.
CREATE OR REPLACE FUNCTION query_words_of(query text, audiences uuid[], bound uuid[], projects uuid[]) RETURNS query_words
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    usual CONSTANT float8 := 50;  -- memories
    given query_words := query_words_everywhere(query, audiences, bound);
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

-- ---- Things that memories name ----

-- The memories of some audiences that name one of these things, by their keys: index
-- memory_mention_named, at most `most` of each, and which of the keys it was. A name that so many
-- give is in no order; who asks leaves it out.
CREATE OR REPLACE FUNCTION naming(keys text[], audiences uuid[], bound uuid[], most int)
RETURNS TABLE (name bigint, memory_id uuid) LANGUAGE sql STABLE ROWS 50 AS $$
    SELECT k.name, m.memory_id FROM unnest(keys) WITH ORDINALITY AS k(key, name)
    CROSS JOIN LATERAL (
        SELECT DISTINCT n.memory_id FROM memory_mention AS n
        WHERE n.key = k.key AND n.audience = ANY (audiences)
          AND (bound IS NULL OR n.project_id = ANY (bound))
        LIMIT most) AS m
$$;

-- Keys that are asked for with their words, and those of names that are said to be one with them for some
-- audiences, by the same words: by index memory_verdict_same, nearly always none.
CREATE OR REPLACE FUNCTION same_names(INOUT keys text[], INOUT spelled text[], audiences uuid[])
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE said AS MATERIALIZED (
        SELECT v.before -> 'first' AS one, v.before -> 'second' AS other FROM memory_reviewverdict AS v
        WHERE v.verdict = 'same' AND v.undone_at IS NULL AND v.audience = ANY (audiences)),
    pair AS MATERIALIZED (
        SELECT one, other FROM said UNION SELECT other, one FROM said),
    asked AS MATERIALIZED (
        SELECT * FROM unnest(keys, spelled) WITH ORDINALITY AS k(key, words, place)),
    reached(name, words, place) AS (
        SELECT p.one, a.words, a.place FROM asked AS a JOIN pair AS p ON p.one ->> 1 = a.key
        UNION SELECT p.other, r.words, r.place FROM reached AS r JOIN pair AS p ON p.one = r.name),
    every AS (
        SELECT key, words, place, 0 AS step FROM asked
        UNION ALL SELECT name ->> 1, words, place, 1 FROM reached),
    first AS (SELECT DISTINCT ON (key) * FROM every ORDER BY key, step, place)
    SELECT array_agg(key ORDER BY step, place, key), array_agg(words ORDER BY step, place, key) FROM first
$$;

-- The words of a question, as stems, that stand for things which some memories name, however they
-- write them: by primary key, at most 215 memories that may be seen. Only of what one of them names
-- are the words `spelled` taken apart.
CREATE OR REPLACE FUNCTION spelled_otherwise(ids uuid[], keys text[], spelled text[])
RETURNS TABLE (memory_id uuid, words text[]) LANGUAGE sql STABLE ROWS 20 AS $$
    WITH said AS MATERIALIZED (
        SELECT DISTINCT n.memory_id, n.key FROM memory_mention AS n
        WHERE n.memory_id = ANY (ids) AND n.key = ANY (keys)),
    stem AS MATERIALIZED (
        SELECT k.key, unnest(tsvector_to_array(to_tsvector('pg_catalog.english', k.words))) AS word
        FROM unnest(keys, spelled) AS k(key, words) WHERE k.key IN (SELECT key FROM said))
    SELECT s.memory_id, array_agg(t.word) FROM said AS s JOIN stem AS t ON t.key = s.key GROUP BY 1
$$;

-- ---- How rows are reached ----

-- Whether the graph stands whole in this schema; one that is being made beside the work does not yet.
CREATE OR REPLACE FUNCTION is_indexed(model smallint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_index AS i
        WHERE i.indisvalid AND i.indexrelid = to_regclass('memory_vector_near_' || model))
$$;

-- How many live memories the audiences and projects of a search hold, by the last count of words.
CREATE OR REPLACE FUNCTION scope_size(audiences uuid[], bound uuid[], projects uuid[]) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(l.documents), 0) FROM memory_lexeme AS l
    WHERE l.word = '' AND l.audience = ANY (audiences)
      AND (bound IS NULL OR l.project_id = ANY (bound))
      AND (projects IS NULL OR l.project_id IS NULL OR l.project_id = ANY (projects))
$$;

-- The conditions on the facets of a row that are given; empty where none is.
CREATE OR REPLACE FUNCTION facet_conditions(n scan_filter, place text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(' AND ',
        CASE WHEN n.wanted <> '{}' THEN place || '.facets @> ($1).wanted' END,
        CASE WHEN n.unwanted <> '{}' THEN 'NOT ' || place || '.facets && ($1).unwanted' END)
$$;

-- Those conditions of a scan over rows `x` that are given; $1 is the scan_filter.
CREATE OR REPLACE FUNCTION conditions_of(n scan_filter) RETURNS text LANGUAGE sql IMMUTABLE AS $$
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
        CASE WHEN n.without <> '{}' THEN 'x.memory_id <> ALL (($1).without)' END,
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
CREATE OR REPLACE FUNCTION passing_ids(n scan_filter, most int) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    rest scan_filter := n;
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
CREATE OR REPLACE FUNCTION nearest_ids(model smallint, query halfvec, n scan_filter, narrow boolean, most int)
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
CREATE OR REPLACE FUNCTION rare_words(given query_words, most float8, sure float8, OUT query tsquery, OUT words int)
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
CREATE OR REPLACE FUNCTION keyword_ids(given query_words, n scan_filter, narrow boolean, common int, most int)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    few CONSTANT int := 1500;  -- memories looked at first: those of the rarest words seldom suffice
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

CREATE OR REPLACE FUNCTION scan_paths(
    model smallint, query halfvec, given query_words, n scan_filter, dense_limit int, keyword_limit int)
RETURNS path_hits LANGUAGE plpgsql STABLE AS $$
DECLARE
    most_few CONSTANT int := 20000;  -- rows that pass a filter, or hold a word, and are all looked at
    small CONSTANT int := 10000;  -- rows of a scope
    narrow boolean := n.moment IS NOT NULL OR n.whole OR NOT is_indexed(model)
        OR scope_size(n.audiences, n.bound, n.projects) <= small;
    found path_hits;
BEGIN
    IF n.wanted <> '{}' OR n.among IS NOT NULL
        OR NOT narrow AND (n.since IS NOT NULL OR n.until IS NOT NULL
                           OR n.least_sure IS NOT NULL OR n.most_sure IS NOT NULL) THEN
        n.few := passing_ids(n, most_few);
        narrow := narrow OR n.few IS NOT NULL;
    END IF;
    IF query IS NOT NULL THEN
        found.dense := nearest_ids(model, query, n, narrow, dense_limit);
    END IF;
    IF given.weights IS NOT NULL THEN
        found.keyword := keyword_ids(given, n, narrow, most_few, keyword_limit);
    END IF;
    RETURN found;
END $$;

-- ---- The search ----

-- Candidates of one search, from all paths, with what fusion and the page need of each. Visibility
-- and filters stand inside every path, before its limit: in scan_paths for meaning and words, here
-- for what lies around files. It lives in the organization's schema so that its plan is kept: a
-- statement is planned anew whenever search_path differs from its last use.
-- Tags, files, modules, states and author are looked up once, and only where one is given; without
-- states that are left out, only what is live is looked for. What lies around files is
-- worth less the more memories hold the file, and likewise of a thing that the question names; what
-- is linked to either is worth a part of it. What is in a topic of the first hits is worth what those
-- hits are, by their ranks, times how central it is in it; it is looked for where the profile counts it.
CREATE OR REPLACE FUNCTION find_candidates(model smallint, query halfvec, whole halfvec, request search_request)
RETURNS TABLE (
    memory_id uuid, cosine float8, bm25 float8, matched float8, graph float8, entities float8,
    communities float8)
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    wanted bigint[] := ARRAY(SELECT facet('tag', tag) FROM unnest(request.by_tags) AS tag)
        || ARRAY(SELECT facet('is', state) FROM unnest(request.by_states) AS state)
        || ARRAY(SELECT facet('author', lower(request.by_author)) WHERE request.by_author IS NOT NULL);
    of_files uuid[] := CASE WHEN request.by_files IS NOT NULL OR request.by_globs IS NOT NULL
        THEN ARRAY(SELECT memories_of_files(request.by_files, request.by_globs, request.audiences)) END;
    of_modules uuid[] := CASE WHEN request.by_modules IS NOT NULL THEN ARRAY(SELECT h.memory_id FROM holders(
        ARRAY(SELECT facet('module', lower(module)) FROM unnest(request.by_modules) AS module),
        request.audiences, NULL, NULL) AS h) END;
    filed uuid[] := CASE WHEN of_files IS NULL OR of_modules IS NULL
        THEN coalesce(of_files, of_modules)
        ELSE ARRAY(SELECT unnest(of_files) INTERSECT SELECT unnest(of_modules)) END;
    among uuid[] := CASE WHEN request.by_topics IS NULL THEN filed ELSE ARRAY(
        SELECT b.memory_id FROM memory_topicmember AS b
        WHERE b.topic_id = ANY (request.by_topics) AND (filed IS NULL OR b.memory_id = ANY (filed))) END;
    unwanted bigint[] := ARRAY(SELECT facet('is', state) FROM unnest(request.no_states) AS state);
    without uuid[] := CASE WHEN request.in_work THEN ARRAY(SELECT out_of_reach(
        request.own_session, request.unit, request.here, request.audiences)) ELSE '{}' END;
    too_many CONSTANT int := 1000;  -- memories that hold a file; it says nothing of any then
    too_common CONSTANT int := 200;  -- memories that name a thing, likewise
    given query_words := query_words_of(
        request.words, request.audiences, request.bound, request.projects);
    hits path_hits := scan_paths(model, query, given, ROW(
        request.audiences, request.bound, request.projects, request.types, request.moment, request.since,
        request.until, wanted, unwanted, request.no_states IS NOT NULL, request.least_sure,
        request.most_sure, among, NULL, without)::scan_filter, request.dense_limit, request.keyword_limit);
BEGIN
IF request.named <> '{}' THEN
    SELECT s.keys, s.spelled INTO request.named, request.spelled
    FROM same_names(request.named, request.spelled, request.audiences) AS s;
END IF;
RETURN QUERY
WITH each_word AS MATERIALIZED (
    SELECT w.asked, w.idf, w.is_known, ('{' || w.word || ':1}/268435456')::sparsevec AS axis
    FROM unnest(given.asked, given.words, given.idfs, given.known) AS w(asked, word, idf, is_known)),
asked AS MATERIALIZED (
    SELECT sum(own.idf) AS mass FROM (
        SELECT coalesce(max(idf) FILTER (WHERE is_known), max(idf)) AS idf
        FROM each_word GROUP BY asked) AS own),
seen AS NOT MATERIALIZED (
    SELECT k.memory_id, k.weights FROM memory_memorykeyword AS k
    WHERE k.audience = ANY (request.audiences)
      AND (request.bound IS NULL OR k.project_id = ANY (request.bound))
      AND (request.projects IS NULL OR k.project_id IS NULL OR k.project_id = ANY (request.projects))
      AND (request.types IS NULL OR k.type_code = ANY (request.types))
      AND CASE WHEN request.moment IS NULL THEN k.live OR request.no_states IS NOT NULL
          ELSE k.known_from <= request.moment
               AND (k.known_until IS NULL OR k.known_until > request.moment) END
      AND (request.since IS NULL OR k.known_from >= request.since)
      AND (request.until IS NULL OR k.known_from < request.until)
      AND (wanted = '{}' OR k.facets @> wanted) AND (unwanted = '{}' OR NOT k.facets && unwanted)
      AND (request.least_sure IS NULL AND request.most_sure IS NULL OR k.memory_id = ANY (
          SELECT m.id FROM memory_memory AS m WHERE m.id = k.memory_id
          AND m.confidence BETWEEN coalesce(request.least_sure, 0) AND coalesce(request.most_sure, 1)))
      AND (among IS NULL OR k.memory_id IN (SELECT unnest(among)))
      AND (without = '{}' OR k.memory_id <> ALL (without))),
holder AS MATERIALIZED (
    SELECT h.facet, h.memory_id, count(*) OVER (PARTITION BY h.facet) AS holders
    FROM holders(ARRAY(SELECT DISTINCT facet FROM near_facets(request.near)),
                 request.audiences, request.bound, too_many) AS h),
held AS MATERIALIZED (
    SELECT n.name, s.memory_id, max(n.worth) AS worth
    FROM near_facets(request.near) AS n
    JOIN holder AS h ON h.facet = n.facet AND h.holders < too_many
    JOIN seen AS s ON s.memory_id = h.memory_id
    GROUP BY 1, 2),
around AS MATERIALIZED (
    SELECT h.memory_id, sum(h.worth / (1 + ln(h.holders))) AS score
    FROM (SELECT *, count(*) OVER (PARTITION BY name) AS holders FROM held) AS h
    GROUP BY 1),
naming AS MATERIALIZED (
    SELECT n.name, n.memory_id, count(*) OVER (PARTITION BY n.name) AS namers
    FROM naming(request.named, request.audiences, request.bound, too_common) AS n),
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
        UNION ALL SELECT s.memory_id, a.score * link_worth(l.kind, l.confidence, request.kinds)
        FROM start AS a JOIN memory_memorylink AS l ON l.source_id = a.memory_id
        JOIN seen AS s ON s.memory_id = l.target_id
        UNION ALL SELECT s.memory_id, a.score * link_worth(l.kind, l.confidence, request.kinds)
        FROM start AS a JOIN memory_memorylink AS l ON l.target_id = a.memory_id
        JOIN seen AS s ON s.memory_id = l.source_id
    ) AS reached GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT request.graph_limit),
hit AS MATERIALIZED (
    SELECT memory_id, max(1.0 / place) AS worth FROM (
        SELECT d.id AS memory_id, d.place FROM unnest(hits.dense[:5]) WITH ORDINALITY AS d(id, place)
        UNION ALL
        SELECT w.id, w.place FROM unnest(hits.keyword[:5]) WITH ORDINALITY AS w(id, place)) AS first
    GROUP BY 1),
topic AS MATERIALIZED (
    SELECT b.topic_id, sum(h.worth) AS worth
    FROM hit AS h JOIN memory_topicmember AS b ON b.memory_id = h.memory_id
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3),
found AS MATERIALIZED (
    SELECT memory_id FROM graph
    UNION (SELECT b.memory_id FROM topic AS t JOIN memory_topicmember AS b ON b.topic_id = t.topic_id
           JOIN seen AS s ON s.memory_id = b.memory_id
           ORDER BY t.worth * coalesce(b.closeness, 0.5) DESC, b.memory_id LIMIT request.topics_limit)
    UNION (SELECT memory_id FROM entities ORDER BY score DESC, distance, memory_id LIMIT request.named_limit)
    UNION SELECT unnest(hits.dense) UNION SELECT unnest(hits.keyword)),
spelling AS MATERIALIZED (
    SELECT * FROM spelled_otherwise(ARRAY(SELECT memory_id FROM found), request.named, request.spelled))
SELECT found.memory_id,
       -coalesce(v.whole <#> find_candidates.whole, v.unit <#> query)::float8,
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
-- its text. Ages are computed here: reading four moments a row took 7 % of the program's part of a
-- search.
CREATE OR REPLACE FUNCTION evidence_of(
    ids uuid[], audiences uuid[], bound uuid[], identifiers text[], keys text[], with_text boolean, moment timestamptz)
RETURNS SETOF evidence LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    sides uuid[] := disputed_among(ids, audiences, bound);
BEGIN RETURN QUERY
SELECT m.id, m.type, m.source, m.related_files,
       extract(epoch FROM moment - m.created_at)::float8 / 86400,
       extract(epoch FROM moment - greatest(
           coalesce(m.stated_at, m.updated_at), m.last_confirmed_at, m.verified_at))::float8 / 86400,
       coalesce(u.given_count, 0), m.confidence, m.confidence_floor, m.id = ANY (sides),
       m.verification, m.decay_half_life_days, m.pinned, m.taint_reason <> '',
       m.position IS NOT NULL, m.governance, m.tags,
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

-- The turns before and after each of some memories in its sitting of a conversation, by their positions: by
-- index memory_conversation; what is archived, stale, of another project or not visible is passed over.
CREATE OR REPLACE FUNCTION turns_of(ids uuid[], audiences uuid[], bound uuid[])
RETURNS TABLE (memory_id uuid, before uuid, after uuid) LANGUAGE sql STABLE ROWS 10 AS $$
    SELECT c.id, previous.id, next.id
    FROM memory_memory AS c
    LEFT JOIN LATERAL (
        SELECT m.id FROM memory_memory AS m
        WHERE m.position IS NOT NULL AND m.thread = c.thread AND m.session = c.session AND m.status = 'active'
          AND m.stale_at IS NULL AND m.project_id IS NOT DISTINCT FROM c.project_id
          AND m.audience = ANY (audiences) AND (bound IS NULL OR m.project_id = ANY (bound))
          AND (m.position, m.id) < (c.position, c.id)
        ORDER BY m.position DESC, m.id DESC LIMIT 1) AS previous ON true
    LEFT JOIN LATERAL (
        SELECT m.id FROM memory_memory AS m
        WHERE m.position IS NOT NULL AND m.thread = c.thread AND m.session = c.session AND m.status = 'active'
          AND m.stale_at IS NULL AND m.project_id IS NOT DISTINCT FROM c.project_id
          AND m.audience = ANY (audiences) AND (bound IS NULL OR m.project_id = ANY (bound))
          AND (m.position, m.id) > (c.position, c.id)
        ORDER BY m.position, m.id LIMIT 1) AS next ON true
    WHERE c.id = ANY (ids) AND c.position IS NOT NULL
      AND c.audience = ANY (audiences) AND (bound IS NULL OR c.project_id = ANY (bound))
$$;

-- Everything that one search reads before it ranks. The first row holds the active model and the topic that
-- the question is nearest to; each other one a memory: what the paths say of a candidate, the evidence, and
-- the turns beside it. What only stands beside candidates has no paths. One function, since planning its
-- statements took longer than running them.
CREATE OR REPLACE FUNCTION gather(model text, query halfvec, whole halfvec, request search_request)
RETURNS TABLE (
    key varchar, topic jsonb, memory_id uuid, cosine float8, bm25 float8, matched float8, graph float8,
    entities float8, communities float8, before uuid, after uuid, known evidence)
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    active record;
BEGIN
    SELECT e.id, e.key INTO active FROM memory_embeddingmodel AS e WHERE e.active ORDER BY e.id LIMIT 1;
    IF active.key IS DISTINCT FROM model THEN  -- vectors of different models are never compared
        query := NULL;
        whole := NULL;
    END IF;
    key := active.key;
    topic := nearest_topic(active.id, query, request.audiences, request.bound, request.projects);
    RETURN NEXT;
    RETURN QUERY
    WITH found AS MATERIALIZED (SELECT * FROM find_candidates(active.id, query, whole, request)),
    turn AS MATERIALIZED (SELECT * FROM turns_of(
        ARRAY(SELECT memory_id FROM found), request.audiences, request.bound)),
    known AS MATERIALIZED (SELECT e FROM evidence_of(
        ARRAY(SELECT memory_id FROM found
              UNION SELECT one.id FROM turn, LATERAL (VALUES (before), (after)) AS one(id)
              WHERE request.with_beside AND one.id IS NOT NULL),
        request.audiences, request.bound, request.identifiers, request.keys, request.with_text,
        coalesce(request.now, now())) AS e)
    SELECT NULL::varchar, NULL::jsonb, coalesce(f.memory_id, (k.e).id), f.cosine, coalesce(f.bm25, 0),
           f.matched, f.graph, f.entities, f.communities, t.before, t.after, k.e
    FROM found AS f FULL JOIN known AS k ON (k.e).id = f.memory_id
    LEFT JOIN turn AS t ON t.memory_id = f.memory_id
    ORDER BY 3;
END $$;
