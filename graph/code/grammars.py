"""The grammars of the parsed languages, and what is looked for in their trees.

What a language's constructs mean stands as tree-sitter patterns in `patterns/*.scm`, one file a
language and two that are shared; nothing else knows a grammar. Their captures are the same for all:

- `@class @interface @function @method @variable @module @test`: a definition, named by `@name`;
  `@owner` is around definitions of the named type and none itself; `@receiver` is a method's type;
- `@calls @inherits @implements`: what is referred to; `@last` is the name that a long one ends in;
- `@from`: the module of an import, with `@taken`, `@local`, `@default` or `@everything`; Rust has
  `@uses` (a tree of paths) and `@declares` (a module in a file of its own);
- `@marks`: the definition that follows is a test.
"""

from functools import cache
from pathlib import Path

import tree_sitter
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript

from graph.code.languages import Language

_GRAMMARS = {
    Language.PYTHON: (tree_sitter_python.language, ("python",)),
    Language.JAVASCRIPT: (tree_sitter_javascript.language, ("ecma", "jsx", "javascript")),
    Language.TYPESCRIPT: (tree_sitter_typescript.language_typescript, ("ecma", "typescript")),
    Language.TSX: (tree_sitter_typescript.language_tsx, ("ecma", "jsx", "typescript")),
    Language.GO: (tree_sitter_go.language, ("go",)),
    Language.RUST: (tree_sitter_rust.language, ("rust",)),
}
_PATTERNS = Path(__file__).with_name("patterns")


def parser(*, language: Language) -> tree_sitter.Parser:
    """Return a new parser of a language; one must not be shared by threads."""
    return tree_sitter.Parser(_grammar(language))


@cache
def patterns(*, language: Language) -> tree_sitter.Query:
    """Return what is looked for in the trees of a language."""
    _, names = _GRAMMARS[language]
    texts = ((_PATTERNS / f"{name}.scm").read_text(encoding="utf-8") for name in names)
    return tree_sitter.Query(_grammar(language), "\n".join(texts))


@cache
def _grammar(language: Language) -> tree_sitter.Language:
    make, _ = _GRAMMARS[language]
    return tree_sitter.Language(make())
