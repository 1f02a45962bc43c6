-- The way back: what is a methodology of the organization's own stands in a table of its own again.
-- Styles had none, and go.
INSERT INTO memory_methodology (name, phases, defined_by, defined_at)
SELECT d.name, d.body -> 'phases', d.defined_by, d.defined_at
FROM memory_definition AS d
WHERE d.kind = 'methodology'
  AND d.audience = nullif(current_setting('cairn.tenant', true), '')::uuid
