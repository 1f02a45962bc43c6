"""Text: pure rules about texts, which know no framework, database or network.

`text` has the readings of one content: hashed, embedded, indexed, shown. `passages` reads Markdown
and cuts paragraphs into sentences, `decoding` turns bytes into text, `languages` tells source text
apart, `globs` matches paths, `tokens` counts on the high side.

Encodings are told by a few rules, not guessed by charset-normalizer: UTF-8, UTF-16 and Windows-1252
in this order cover what editors write, and the rules name the byte that was no UTF-8. Whether a
guess would read more files right was not measured.
"""
