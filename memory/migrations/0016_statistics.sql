-- What models cost becomes a kind of statistic; run with search_path = "<schema>", public. What was
-- asked outside of a project is the organization's, whose id the wall is set to.
INSERT INTO memory_statistic (kind, audience, project_id, day, key, counts, updated_at)
SELECT 'model_use',
       coalesce(project_id, nullif(current_setting('cairn.tenant', true), '')::uuid),
       project_id, day, model,
       jsonb_build_object(
           'calls', calls, 'fallbacks', fallbacks, 'input_tokens', input_tokens,
           'output_tokens', output_tokens, 'cost', trim_scale(cost)::text),
       now()
FROM memory_modeluse;
