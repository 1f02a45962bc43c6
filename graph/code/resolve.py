"""Make edges of what the files of a project refer to: calls by imports and names.

What leads nowhere in the project is kept as it was written, with little confidence, except for what
the language itself brings along. The same said several times is one edge, and weighs as often.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from posixpath import dirname

from graph.code import languages, name_resolution
from graph.code.languages import Language
from graph.code.name_resolution import FAMILIES, Project
from graph.code.values import Edge, Parsed, Place, Reference, ReferenceKind
from graph.vocabulary import NodeKind

SURE = 1.0  # of what a file defines, and of files that it imports
NAMED_AFTER = 0.7  # a file of tests that is called after another; a default, as those below
UNRESOLVED = 0.1  # what is not in the project, or could not be found there
MOST_NAMESAKES = 50  # files among which the tested one is looked for

Key = tuple[str, Place, Place | None, str]


def resolve(*, files: Mapping[str, Parsed]) -> tuple[Edge, ...]:
    """Return the edges between all files of a project and what they define, in a fixed order."""
    project = name_resolution.survey_project(files=files)
    edges: dict[Key, Edge] = {}
    for path in sorted(files):
        for edge in _edges(project, path):
            key = (edge.type, edge.source, edge.target, edge.text)
            known = edges.get(key)
            if known is not None:
                sure = max(known.confidence, edge.confidence)
                edges[key] = replace(known, weight=known.weight + edge.weight, confidence=sure)
            else:
                edges[key] = edge
    return tuple(edges.values())


def _edges(project: Project, path: str) -> Iterator[Edge]:
    """Yield what a file defines, and what it imports, tests, calls and inherits."""
    defined = project.defined[path]
    for symbol in defined.values():
        parent = symbol.parent if symbol.parent in defined else ""
        yield Edge(
            type="defines",
            source=Place(path=path, qualified=parent),
            target=Place(path=path, qualified=symbol.qualified),
        )
    for reference in project.files[path].references:
        if reference.kind is ReferenceKind.IMPORTS:
            yield from _imports(project, path, reference)
        elif reference.kind is ReferenceKind.TESTS:
            yield from _named_after(project, path, reference)
        else:
            yield from _reached(project, path, reference)


def _imports(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield edges to the files of a module, and to what is taken out of it."""
    source = _source(project, path, reference)
    files = name_resolution.files_of(project=project, path=path, reference=reference)
    taken = name_resolution.meaning(project, path, reference)
    places = dict.fromkeys((*(Place(path=file) for file in files), *taken))
    for place in places:
        if place.path != path:
            yield Edge(type="imports", source=source, target=place, confidence=SURE)
    if not places:
        text = reference.target  # as the language would write the path
        if reference.name not in {"", "*", "default"}:
            separator = "::" if project.files[path].language is Language.RUST else "."
            text = f"{text}{separator}{reference.name}"
        yield Edge(type="imports", source=source, target=None, text=text, confidence=UNRESOLVED)


def _reached(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge to what is called or inherited, and that it is tested, from a test."""
    source = _source(project, path, reference)
    found = name_resolution.reach(project=project, path=path, reference=reference)
    kind = reference.kind
    if found is None:
        if not _is_builtin(project, path, reference):
            text = reference.target
            yield Edge(type=kind, source=source, target=None, text=text, confidence=UNRESOLVED)
        return
    target, confidence = found
    if target == source and kind is not ReferenceKind.CALLS:
        return
    at_source, at_target = _kind(project, source), _kind(project, target)
    is_interface = at_target is NodeKind.INTERFACE and at_source is not NodeKind.INTERFACE
    if kind is ReferenceKind.INHERITS and is_interface:
        kind = ReferenceKind.IMPLEMENTS
    edge = Edge(type=kind, source=source, target=target, confidence=confidence)
    yield edge
    is_tested = at_source is NodeKind.TEST and at_target is not NodeKind.TEST
    # Rust keeps tests beside what they test, in the same file
    if kind is ReferenceKind.CALLS and is_tested and not _holds_tests(project, target.path):
        yield replace(edge, type=ReferenceKind.TESTS)


def _source(project: Project, path: str, reference: Reference) -> Place:
    known = reference.source in project.defined[path]
    return Place(path=path, qualified=reference.source if known else "")


def _kind(project: Project, place: Place) -> NodeKind | None:
    symbol = project.defined[place.path].get(place.qualified)
    return symbol.kind if symbol is not None else None


def _holds_tests(project: Project, path: str) -> bool:
    language = project.files[path].language
    return language is not None and languages.is_test_file(path=path, language=language)


def _is_builtin(project: Project, path: str, reference: Reference) -> bool:
    language = project.files[path].language
    if language is None or reference.kind is not ReferenceKind.CALLS:
        return False
    head, _, last = reference.target.rpartition(".")
    brought = languages.METHODS if head else languages.NAMES
    return last in brought[language]


def _named_after(project: Project, path: str, reference: Reference) -> Iterator[Edge]:
    """Yield the edge from a file of tests to the one file that it is called after."""
    language = project.files[path].language
    if language is None:
        return
    candidates = project.stems.get((FAMILIES[language], reference.target), ())
    if len(candidates) > MOST_NAMESAKES:
        return
    own = frozenset(dirname(path).split("/"))
    ranked = sorted(  # by the folders that they share
        (-len(own & {*dirname(one).split("/")}), one)
        for one in candidates
        if not _holds_tests(project, one)
    )
    if ranked and (len(ranked) == 1 or ranked[0][0] != ranked[1][0]):
        source, target = Place(path=path), Place(path=ranked[0][1])
        yield Edge(type=ReferenceKind.TESTS, source=source, target=target, confidence=NAMED_AFTER)
