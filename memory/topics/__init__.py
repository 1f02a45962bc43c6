"""Topics: memories of one audience and project, clustered each night by what holds them together.

`actions.sort_topics` reads a scope of a project, clusters it outside of any transaction and names
the clusters by their words (`clustering`), and writes both; `queries` shows what a caller may see.
Between two nights, memories follow the nearest topic (`sql/functions.sql`). Start with
`clustering`.
"""
