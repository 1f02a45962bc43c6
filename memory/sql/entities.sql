-- name: write
-- Store what some memories name; their place stands in the rows that are given.
INSERT INTO memory_mention (memory_id, type_code, key, name, audience, project_id)
SELECT * FROM unnest(%(ids)s::uuid[], %(types)s::smallint[], %(keys)s::text[], %(names)s::text[],
                     %(audiences)s::uuid[], %(projects)s::uuid[])

-- name: forget
-- Forget what a memory names, by primary key, before it is written anew.
DELETE FROM memory_mention WHERE memory_id = %(memory_id)s
