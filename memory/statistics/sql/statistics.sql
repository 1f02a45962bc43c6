-- name: add
-- Add to many sums in one statement, by the index memory_statistic_once; a row a place, day and key.
-- Numbers add up, decimals that are written as text too and stay exact; of `notes` the newer stands.
-- Who adds to the same row waits for it, and rows come in one order, so nothing is lost or locked up.
INSERT INTO memory_statistic AS s (kind, audience, project_id, day, key, counts, updated_at)
SELECT %(kind)s, r.audience, r.project_id, r.day, r.key, r.counts, %(now)s
FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS r(audience uuid, project_id uuid, day date, key text, counts jsonb)
ORDER BY r.audience, r.project_id, r.day, r.key COLLATE "C"
ON CONFLICT (kind, audience, project_id, day, key) DO UPDATE
SET updated_at = greatest(s.updated_at, excluded.updated_at),
    counts = s.counts || coalesce((
        SELECT jsonb_object_agg(n.key, CASE
            WHEN jsonb_typeof(n.value) = 'number' AND jsonb_typeof(s.counts -> n.key) = 'number'
                THEN to_jsonb((s.counts ->> n.key)::numeric + (n.value #>> '{}')::numeric)
            WHEN jsonb_typeof(n.value) = 'string' AND jsonb_typeof(s.counts -> n.key) = 'string'
                THEN to_jsonb(
                    trim_scale((s.counts ->> n.key)::numeric + (n.value #>> '{}')::numeric)::text)
            ELSE n.value END)
        FROM jsonb_each(excluded.counts) AS n), '{}')

-- name: drop_nothing
-- Sums of a place from which all was taken back: by memory_statistic_once, a row a key.
DELETE FROM memory_statistic AS s
WHERE s.kind = %(kind)s AND s.audience = %(audience)s AND s.day IS NULL AND s.key = ANY (%(keys)s)
  AND s.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND NOT EXISTS (SELECT FROM jsonb_each(s.counts - 'notes') AS n WHERE n.value <> '0')

-- name: drop_zeros
-- Names of such sums that came to nothing, so that it is as if nobody had ever added to them.
UPDATE memory_statistic AS s SET counts = (
    SELECT jsonb_object_agg(n.key, n.value) FROM jsonb_each(s.counts) AS n WHERE n.value <> '0')
WHERE s.kind = %(kind)s AND s.audience = %(audience)s AND s.day IS NULL AND s.key = ANY (%(keys)s)
  AND s.project_id IS NOT DISTINCT FROM %(project)s::uuid
  AND EXISTS (SELECT FROM jsonb_each(s.counts) AS n WHERE n.value = '0')

-- name: model_use
-- What text models cost in some days, of one project or of all: by the index memory_statistic_kind; a
-- row. Sums only: whom they are told is decided by who asks.
SELECT coalesce(sum((s.counts ->> 'calls')::bigint), 0),
       coalesce(sum((s.counts ->> 'fallbacks')::bigint), 0),
       coalesce(sum((s.counts ->> 'input_tokens')::bigint), 0),
       coalesce(sum((s.counts ->> 'output_tokens')::bigint), 0),
       coalesce(sum((s.counts ->> 'cost')::numeric), 0)
FROM memory_statistic AS s
WHERE s.kind = 'model_use' AND s.day BETWEEN %(since)s AND %(until)s
  AND (%(everywhere)s OR s.project_id IS NOT DISTINCT FROM %(project)s::uuid)

-- name: model_use_days
-- What each text model cost on each of some days, of one project or of all, newest first: by the index
-- memory_statistic_kind; a row a day, project and model.
SELECT s.day, s.project_id, s.key, s.counts
FROM memory_statistic AS s
WHERE s.kind = 'model_use' AND s.day BETWEEN %(since)s AND %(until)s
  AND (%(everywhere)s OR s.project_id IS NOT DISTINCT FROM %(project)s::uuid)
ORDER BY s.day DESC, s.project_id NULLS FIRST, s.key, s.id
LIMIT %(most)s
