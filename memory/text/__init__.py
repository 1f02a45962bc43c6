"""Text: pure rules about texts, which know no framework, database or network.

`text` has the readings of one content: hashed, embedded, indexed, shown; it tells the language of
source text. `passages` reads Markdown and cuts paragraphs into sentences, `globs` matches paths,
`tokens` counts on the high side.
"""
