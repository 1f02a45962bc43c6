-- The way back: what models cost stands in a table of its own again, which holds money to a millionth.
-- Other sums had none, and go.
INSERT INTO memory_modeluse
    (day, model, project_id, calls, fallbacks, input_tokens, output_tokens, cost)
SELECT s.day, left(s.key, 120), s.project_id,
       sum((s.counts ->> 'calls')::bigint)::int, sum((s.counts ->> 'fallbacks')::bigint)::int,
       sum((s.counts ->> 'input_tokens')::bigint)::bigint,
       sum((s.counts ->> 'output_tokens')::bigint)::bigint,
       sum((s.counts ->> 'cost')::numeric)
FROM memory_statistic AS s
WHERE s.kind = 'model_use' AND s.day IS NOT NULL
GROUP BY s.day, left(s.key, 120), s.project_id
