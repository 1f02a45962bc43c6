"""Topics: memories of one audience and project, clustered each night by what holds them together.

`actions.sort_topics` reads a place, clusters it outside of any transaction (`clustering`, words by
`labels`) and writes it; `queries` shows what a caller may see. Between two nights, memories follow
the nearest topic (`sql/functions.sql`). Start with `clustering`.
"""
