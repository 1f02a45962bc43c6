-- What models cannot say of the tables of one organization; run with search_path = "<schema>", public.

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

-- The words of a text, each once and without regard to case: what stands between blanks and signs.
-- Signs of Chinese, Japanese and Korean are words each. A long word counts by its beginning.
CREATE FUNCTION said_words(said text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT DISTINCT left(word, 40) FROM unnest(string_to_array(translate(
            CASE WHEN small ~ '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]'
                THEN regexp_replace(small, '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])', ' \1 ', 'g')
                ELSE small END,
            E'\t\n\r\f\x0b!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~\u00a0\u00a1\u00ab\u00b7\u00bb\u00bf\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u202f\u2190\u2192\u3000\u3001\u3002',
            repeat(' ', 62)), ' ')) AS word
        WHERE word <> '')
    FROM lower(normalize(said, NFKC)) AS small
$$;

-- A column that models do not know: it is asked for by memory/sessions/sql/history.sql alone, and it is as long
-- as the text, so nobody else should read it. What was done is not looked for, and has none.
ALTER TABLE memory_turn ADD COLUMN words text[]
    GENERATED ALWAYS AS (CASE WHEN stream = 0 THEN said_words(text) END) STORED;
CREATE INDEX memory_turn_words ON memory_turn USING gin (words) WHERE words IS NOT NULL;
