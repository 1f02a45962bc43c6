-- How what was said is found by its words (spec 2.7); run with search_path = "<schema>", public.

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

-- A column that models do not know: it is asked for by memory/sql/history.sql alone, and it is as long
-- as the text, so nobody else should read it. What was done is not looked for, and has none.
ALTER TABLE memory_turn ADD COLUMN words text[]
    GENERATED ALWAYS AS (CASE WHEN stream = 0 THEN said_words(text) END) STORED;
CREATE INDEX memory_turn_words ON memory_turn USING gin (words) WHERE words IS NOT NULL;
