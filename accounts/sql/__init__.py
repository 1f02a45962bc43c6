"""The second wall in Postgres: row-level security, and the few doors through it."""
