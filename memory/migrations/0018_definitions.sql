-- What was defined so far is the organization's, whose id the unit of the upgrade holds. The template
-- has no unit and no rows.
INSERT INTO memory_definition (id, kind, name, audience, body, is_default, defined_by, defined_at)
SELECT gen_random_uuid(), 'methodology', m.name,
       nullif(current_setting('cairn.tenant', true), '')::uuid,
       jsonb_build_object('phases', m.phases), false, m.defined_by, m.defined_at
FROM memory_methodology AS m
