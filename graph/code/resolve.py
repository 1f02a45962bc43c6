"""Make edges of what the files of a project refer to: calls by imports and names.

What leads nowhere in the project is kept as it was written, with little confidence, except for what
the language itself brings along. The same said several times is one edge, and weighs as often.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from posixpath import basename, dirname

from graph.code import languages, name_resolution
from graph.code.languages import Language
from graph.code.name_resolution import FAMILIES, Names, Project
from graph.code.values import Edge, Parsed, Place, Reference, ReferenceKind
from graph.vocabulary import NodeKind

SURE = 1.0  # of what a file defines, and of files that it imports
NAMED_AFTER = 0.7  # a file of tests that is called after another; ours
UNRESOLVED = 0.1  # what is not in the project, or could not be found there; ours
MOST_NAMESAKES = 50  # files among which the tested one is looked for; ours

Key = tuple[str, Place, Place | None, str]


def resolve(*, files: Mapping[str, Parsed]) -> tuple[Edge, ...]:
    """Return the edges between all files of a project and what they define, in a fixed order."""
    surveyed = name_resolution.survey_project(files=files)
    names = name_resolution.names(project=surveyed)
    told: dict[Key, Edge] = {}
    for path in sorted(files):
        for edge in _edges(names, path):
            key = (edge.type, edge.source, edge.target, edge.text)
            known = told.get(key)
            if known is not None:
                sure = max(known.confidence, edge.confidence)
                told[key] = replace(known, weight=known.weight + edge.weight, confidence=sure)
            else:
                told[key] = edge
    return tuple(told.values())


def _edges(names: Names, path: str) -> Iterator[Edge]:
    surveyed = names.project
    yield from _defined(surveyed, path)
    for reference in surveyed.files[path].references:
        if reference.kind is ReferenceKind.IMPORTS:
            yield from _imports(surveyed, path, reference)
        elif reference.kind is ReferenceKind.TESTS:
            yield from _named_after(surveyed, path, reference)
        else:
            yield from _reached(names, path, reference)


def _defined(surveyed: Project, path: str) -> Iterator[Edge]:
    defined = surveyed.defined[path]
    for symbol in defined.values():
        parent = symbol.parent if symbol.parent in defined else ""
        yield Edge(
            type="defines",
            source=Place(path=path, qualified=parent),
            target=Place(path=path, qualified=symbol.qualified),
        )


def _imports(surveyed: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield edges to the files of a module, and to what is taken out of it."""
    source = _source(surveyed, path, reference)
    files = name_resolution.files_of(project=surveyed, path=path, reference=reference)
    taken = name_resolution.meaning(project=surveyed, path=path, reference=reference)
    places = dict.fromkeys((*(Place(path=file) for file in files), *taken))
    found = [place for place in places if place.path != path]
    for place in found:
        yield Edge(type="imports", source=source, target=place, confidence=SURE)
    if not places:
        text = reference.target  # as the language would write the path
        if reference.name not in {"", "*", "default"}:
            separator = "::" if surveyed.files[path].language is Language.RUST else "."
            text = f"{text}{separator}{reference.name}"
        yield Edge(type="imports", source=source, target=None, text=text, confidence=UNRESOLVED)


def _reached(names: Names, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge to what is called or inherited, and that it is tested, from a test."""
    surveyed = names.project
    source = _source(surveyed, path, reference)
    found = name_resolution.reach(names=names, path=path, reference=reference)
    if found is None:
        if not _is_builtin(surveyed, path, reference):
            yield Edge(
                type=reference.kind.value,
                source=source,
                target=None,
                text=reference.target,
                confidence=UNRESOLVED,
            )
        return
    if found.place == source and reference.kind is not ReferenceKind.CALLS:
        return
    edge = Edge(
        type=_type(surveyed, reference, source, found.place),
        source=source,
        target=found.place,
        confidence=found.confidence,
    )
    yield edge
    if edge.type == ReferenceKind.CALLS and _is_tested(surveyed, edge):
        yield replace(edge, type=ReferenceKind.TESTS.value)


def _source(surveyed: Project, path: str, reference: Reference) -> Place:
    known = reference.source in surveyed.defined[path]
    return Place(path=path, qualified=reference.source if known else "")


def _type(surveyed: Project, reference: Reference, source: Place, target: Place) -> str:
    """Return the type of an edge: a class that inherits an interface implements it."""
    is_interface = _kind(surveyed, target) is NodeKind.INTERFACE
    extends = is_interface and _kind(surveyed, source) is NodeKind.INTERFACE
    if reference.kind is ReferenceKind.INHERITS and is_interface and not extends:
        return ReferenceKind.IMPLEMENTS.value
    return reference.kind.value


def _kind(surveyed: Project, place: Place) -> NodeKind | None:
    symbol = surveyed.defined[place.path].get(place.qualified)
    return symbol.kind if symbol is not None else None


def _is_tested(surveyed: Project, edge: Edge) -> bool:
    if edge.target is None or _kind(surveyed, edge.source) is not NodeKind.TEST:
        return False
    return _kind(surveyed, edge.target) is not NodeKind.TEST and not _holds_tests(
        surveyed, edge.target.path
    )


def _holds_tests(surveyed: Project, path: str) -> bool:
    language = surveyed.files[path].language
    # Rust keeps tests beside what they test, in the same file
    return language is not None and languages.is_test_file(path=path, language=language)


def _is_builtin(surveyed: Project, path: str, reference: Reference) -> bool:
    language = surveyed.files[path].language
    if language is None or reference.kind is not ReferenceKind.CALLS:
        return False
    head, _, last = reference.target.rpartition(".")
    brought = languages.METHODS if head else languages.NAMES
    return last in brought[language]


def _named_after(surveyed: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge from a file of tests to the one file that it is called after."""
    language = surveyed.files[path].language
    if language is None:
        return
    candidates = surveyed.stems.get((FAMILIES[language], reference.target), ())
    if len(candidates) > MOST_NAMESAKES:
        return
    found = _nearest(path, (one for one in candidates if not _holds_tests(surveyed, one)))
    if found is not None:
        yield Edge(
            type=ReferenceKind.TESTS.value,
            source=Place(path=path),
            target=Place(path=found),
            confidence=NAMED_AFTER,
        )


def _nearest(path: str, candidates: Iterable[str]) -> str | None:
    """Return the file whose folders are most like those of another; none when two are."""
    own = frozenset(dirname(path).split("/"))
    ranked = sorted((-len(own & {*dirname(one).split("/")}), one) for one in candidates)
    if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
        return None
    return ranked[0][1] if ranked and basename(ranked[0][1]) else None
