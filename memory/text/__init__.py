"""Text: pure rules about texts, which know no framework, database or network.

`text` has the readings of one content: hashed, embedded, indexed, shown. `passages` reads Markdown,
`sentences` cuts paragraphs, `decoding` turns bytes into text, `languages` tells source text apart,
`globs` matches paths, `tokens` counts on the high side.

Encodings are told by a few rules instead of by charset-normalizer: documents are short, and a guess
among a hundred encodings is wrong more often than UTF-8, UTF-16 and Windows-1252 in this order,
which also names the byte that was no UTF-8.
"""
