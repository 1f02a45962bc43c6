"""Files of a project's code and what each defines, over REST."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import MOMENT, TEXT, WHOLE, maybe, page_of, record, ref, several
from accounts.api.shapes import Field, Text
from accounts.caller import TokenScope
from graph.code.manifest import LONGEST_PATH
from graph.index.queries import FileView, State, SymbolView, files, symbols

_FILE: Final[Mapping[str, Any]] = {
    "path": "shop/cart.py",
    "state": "done",
    "language": "python",
    "lines": 120,
    "size": 3400,
    "symbols": 14,
    "hash": "a" * 64,
    "indexed_at": "2026-11-20T12:00:00Z",
}
_SYMBOL: Final[Mapping[str, Any]] = {
    "kind": "method",
    "name": "total",
    "qualified": "Cart.total",
    "first_line": 40,
    "last_line": 52,
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "CodeFile": record(
        path=TEXT,
        state={"type": "string", "enum": [state.value for state in State]},
        language=TEXT,
        lines=maybe(WHOLE),
        size=maybe(WHOLE),
        symbols=WHOLE,
        hash=TEXT,
        indexed_at=maybe(MOMENT),
    ),
    "CodeFilePage": page_of("CodeFile"),
    "CodeSymbol": record(kind=TEXT, name=TEXT, qualified=TEXT, first_line=WHOLE, last_line=WHOLE),
    "CodeSymbols": record(file=ref("CodeFile"), items=several(ref("CodeSymbol"))),
}


def index(ask: Ask) -> Answer:
    """Return a page of files, by path."""
    after = int(ask.cursor) if ask.cursor else None
    page = files(caller=ask.caller, ref=ask.path["ref"], after=after, limit=ask.query["limit"])
    following = str(page.next_after) if page.next_after else None
    return Answer(body={"items": [_file(one) for one in page.items]}, next_cursor=following)


def look(ask: Ask) -> Answer:
    """Return what a file defines."""
    file, found = symbols(caller=ask.caller, ref=ask.path["ref"], path=ask.query["file"])
    return Answer(body={"file": _file(file), "items": [_symbol(one) for one in found]})


def _file(view: FileView) -> dict[str, Any]:
    return {**{name: getattr(view, name) for name in _FILE}, "state": view.state.value}


def _symbol(view: SymbolView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in _SYMBOL}


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/files",
        name="list_code_files",
        tag="code",
        summary="List the files of a project's code",
        says="By path, as `cairn index` sent them.",
        scope=TokenScope.READ,
        run=index,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of files.",
                schema="CodeFilePage",
                example={"items": [_FILE], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="projects/{ref}/symbols",
        name="list_code_symbols",
        tag="code",
        summary="List what a file defines",
        says="By line. A file that changed and has not come again says `receiving`.",
        scope=TokenScope.READ,
        run=look,
        query=(
            Field(
                name="file",
                shape=Text(largest=LONGEST_PATH, smallest=1),
                says="Its path, as the list of files has it.",
                required=True,
            ),
        ),
        replies=(
            Reply(
                status=200,
                says="The file, and its functions, classes and more.",
                schema="CodeSymbols",
                example={"file": _FILE, "items": [_SYMBOL]},
            ),
        ),
    ),
)
