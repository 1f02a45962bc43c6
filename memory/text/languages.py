"""The programming language of source text: a question names it, the text itself hardly ever does.

In the flow: one of the words of a memory tagged `code` (`text.keyword_text`). Where all source is
of one language, its name in a question then tells nothing, which is true; without it, that name was
among the rarest words and led to whatever happens to mention it. Pure.
"""

import re
from typing import Final

_NAMES: Final = {  # by the ending of a file
    ending: name
    for name, endings in {
        "c": "c h", "clojure": "clj cljs", "cpp": "cc cpp cxx hpp", "csharp": "cs",
        "css": "css scss", "dart": "dart", "elixir": "ex exs", "erlang": "erl", "go": "go",
        "haskell": "hs", "html": "htm html", "java": "java", "javascript": "cjs js jsx mjs",
        "julia": "jl", "kotlin": "kt kts", "lua": "lua", "perl": "pl pm", "php": "php",
        "python": "py pyi", "r": "r", "ruby": "rb", "rust": "rs", "scala": "scala",
        "shell": "bash sh zsh", "sql": "sql", "swift": "swift", "typescript": "mts ts tsx",
    }.items()
    for ending in endings.split()
}  # fmt: skip
_ENDING: Final = re.compile(r"\.(\w{1,6})(?:[:#]\S*)?\Z")
_SIGNS: Final = tuple(  # what no other of them writes so, at the start of a line, the surest first
    (name, re.compile(rf"^[ \t]*(?:{sign})", re.MULTILINE))
    for name, sign in (
        ("php", r"<\?php\b"),
        ("rust", r"(?:pub(?:\(\w{1,9}\))? )?(?:async |unsafe )?fn \w{1,80}[<(]"),
        ("go", r"func (?:\(\w{1,40} \*?\w{1,80}\) )?\w{1,80}\(|package \w{1,80}[ \t]*$"),
        (
            "python",
            r"(?:async )?def \w{1,80}\((?s:.){0,600}?\)(?: ?-> ?[^\n:]{1,80})?:"
            r"|class \w{1,80}(?:\([^\n)]{0,200}\))?:|from [\w.]{1,80} import ",
        ),
        ("ruby", r"def (?:self\.)?\w{1,80}[?!]?(?:\([^\n)]{0,200}\))?[ \t]*$"),
        (
            "java",
            r"(?:public|private|protected) (?:static )?(?:final )?[\w<>\[\], ]{1,80} \w{1,80}\(",
        ),
        ("typescript", r"(?:export )?(?:interface|type) \w{1,80}(?: =)? \{"),
        (
            "javascript",
            r"(?:export )?(?:default )?(?:async )?function\*? ?\w{0,80}\("
            r"|(?:export )?(?:const|let) [\w{}, ]{1,80} = ",
        ),
        ("sql", r"(?i:create (?:or replace )?(?:table|view|function)|select [^\n]{1,200} from) "),
    )
)


def language_of(*, content: str, files: tuple[str, ...]) -> str:
    """Return the language by the first file whose ending tells it, else by signs; "" for none."""
    endings = (found[1].lower() for file in files if (found := _ENDING.search(file)))
    told = next((_NAMES[ending] for ending in endings if ending in _NAMES), "")
    return told or next((name for name, sign in _SIGNS if sign.search(content)), "")
