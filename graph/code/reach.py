"""What a dotted name means where it is written: the symbol it leads to, and how sure that is.

`self.save` is looked for in the class around it and in what that inherits, `save` in the functions
around it, in the file and in what it imports, `models.Node` in what `models` means. Of an object
whose type nobody wrote down, only the method's name is known: it means the one method of the
project that is called so, with little confidence, and nothing when there are several.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname

from graph.code import builtin_names
from graph.code.languages import Language
from graph.code.project import FAMILIES, SCATTERED, Project, meaning, member
from graph.code.values import Place, Reference, ReferenceKind
from graph.vocabulary import NodeKind

WRITTEN = 0.95  # by imports and names; ours, as all below
INHERITED = 0.85  # a method of a class that is inherited
PART = 0.6  # something of a class or a value that is not defined in it
SAME_TYPE = 0.5  # a method that the type around it has, on an object of unknown type
ONLY_ONE = 0.4  # the only method of this name
MOST_ABOVE = 50  # classes that are looked through for what one inherits; ours

_SEPARATOR = re.compile(r"\.|::")
_SELF = frozenset({"self", "cls", "this", "Self", "super"})
_OWNERS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.VARIABLE})
_HERITAGE = frozenset({ReferenceKind.INHERITS, ReferenceKind.IMPLEMENTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Where a name leads, and with which confidence."""

    place: Place
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A project, and what each of its classes inherits or implements, as far as that is in it."""

    project: Project
    bases: Mapping[Place, tuple[Place, ...]]


def names(*, project: Project) -> Names:
    """Find out what classes inherit, so that names can be looked for there."""
    alone = Names(project=project, bases={})
    heritage = (
        (path, reference)
        for path, parsed in project.files.items()
        for reference in parsed.references
        if reference.kind in _HERITAGE and reference.source
    )
    bases: dict[Place, list[Place]] = defaultdict(list)
    for path, reference in heritage:
        found = reach(names=alone, path=path, reference=reference)
        if found is not None:
            bases[Place(path=path, qualified=reference.source)].append(found.place)
    return Names(project=project, bases={place: tuple(found) for place, found in bases.items()})


def reach(*, names: Names, path: str, reference: Reference) -> Reached | None:
    """Return what a reference's target means; none when that is not in the project."""
    parts = _SEPARATOR.split(reference.target)
    rest: Sequence[str] = parts[1:]
    if rest and parts[0] in _SELF:
        return _own(names, path, reference.source, parts) or _guess(names, path, reference, rest)
    known = _known(names.project, path, reference, parts)
    if known is not None:
        base, rest = known
        return _within(names, base, rest) if base is not None else None
    return _guess(names, path, reference, rest) if rest else None


def _known(
    project: Project, path: str, reference: Reference, parts: Sequence[str]
) -> tuple[Place | None, Sequence[str]] | None:
    """Return what the first parts mean, and the others; none when nothing says what they mean.

    A place of none is something that the file says is outside of the project.
    """
    around = _around(project, path, reference.source, parts[0])
    if around is not None:
        return around, parts[1:]
    for length in range(len(parts), 0, -1):
        imported = project.imported[path].get(".".join(parts[:length]))
        if imported is not None:
            return _imported(project, path, imported, parts[length:])
    if "::" in reference.target:
        return _path_of_rust(project, path, reference, parts), ()
    found = _neighbor(project, path, parts[0]) or member(project=project, path=path, name=parts[0])
    return (found, parts[1:]) if found is not None else None


def _around(project: Project, path: str, source: str, name: str) -> Place | None:
    """Return what a bare name means in the functions around it, or at the top of the file."""
    defined = project.defined[path]
    symbol = defined.get(source)
    while symbol is not None:
        inner = f"{symbol.qualified}.{name}"
        if symbol.kind not in _OWNERS and inner in defined:
            return Place(path=path, qualified=inner)
        symbol = defined.get(symbol.parent)
    return Place(path=path, qualified=name) if name in defined else None


def _imported(
    project: Project, path: str, imported: Reference, rest: Sequence[str]
) -> tuple[Place | None, Sequence[str]]:
    places = meaning(project=project, path=path, reference=imported)
    if len(places) > 1 and rest:  # a package of several files
        places = tuple(
            Place(path=place.path, qualified=rest[0])
            for place in places
            if rest[0] in project.defined[place.path]
        )
        rest = rest[1:]
    return (places[0] if places else None), rest


def _path_of_rust(
    project: Project, path: str, reference: Reference, parts: Sequence[str]
) -> Place | None:
    *module, name = parts
    written = Reference(
        kind=ReferenceKind.IMPORTS,
        source=reference.source,
        target="::".join(module),
        name=name,
        line=reference.line,
    )
    return next(iter(meaning(project=project, path=path, reference=written)), None)


def _neighbor(project: Project, path: str, name: str) -> Place | None:
    """Return what a name means in the other files of a package of Go."""
    if project.files[path].language is not Language.GO:
        return None
    return project.beside.get((dirname(path), name))


def _within(names: Names, base: Place, rest: Sequence[str]) -> Reached | None:
    """Return what is meant inside of a file or a symbol; the symbol itself when that is unknown."""
    reached = Reached(place=base, confidence=WRITTEN if base.qualified else PART)
    for part in rest:
        inner = _inside(names, reached.place, part)
        if inner is None:
            known = bool(reached.place.qualified)
            return Reached(place=reached.place, confidence=PART) if known else None
        reached = inner
    return reached


def _inside(names: Names, place: Place, part: str) -> Reached | None:
    if place.qualified:
        return _method(names, place, part)
    found = member(project=names.project, path=place.path, name=part)
    return Reached(place=found, confidence=WRITTEN) if found is not None else None


def _own(names: Names, path: str, source: str, parts: Sequence[str]) -> Reached | None:
    """Return the method of the class around a name, or of what that inherits."""
    owner = _owner(names.project, path, source)
    if not owner or len(parts) > 2:
        return None
    place = Place(path=path, qualified=owner)
    if parts[0] != "super":
        return _method(names, place, parts[1])
    found = (_method(names, base, parts[1]) for base in names.bases.get(place, ()))
    return next((one for one in found if one is not None), None)


def _owner(project: Project, path: str, source: str) -> str:
    """Return the class around a symbol, which may be defined in another file; else nothing."""
    symbol = project.defined[path].get(source)
    while symbol is not None and symbol.kind not in _OWNERS:
        outer = project.defined[path].get(symbol.parent)
        if outer is None:
            return symbol.parent
        symbol = outer
    return symbol.qualified if symbol is not None else ""


def _method(names: Names, place: Place, name: str) -> Reached | None:
    """Return what a class holds under a name, else what the classes hold that it inherits."""
    found = _of_type(names.project, place, name)
    if found is not None:
        return Reached(place=found, confidence=WRITTEN)
    for base in _above(names, place):
        found = _of_type(names.project, base, name)
        if found is not None:
            return Reached(place=found, confidence=INHERITED)
    return None


def _above(names: Names, place: Place) -> Sequence[Place]:
    """Return what a class inherits, and what that inherits, the nearest first, once each."""
    found = {place: None}
    waiting = [place]
    for one in waiting:
        new = [base for base in names.bases.get(one, ()) if base not in found]
        new = new[: MOST_ABOVE - len(found)]
        found.update(dict.fromkeys(new))
        waiting.extend(dict.fromkeys(new))
    return waiting[1:]


def _of_type(project: Project, place: Place, name: str) -> Place | None:
    qualified = f"{place.qualified}.{name}"
    if qualified in project.defined[place.path]:
        return Place(path=place.path, qualified=qualified)
    language = project.files[place.path].language
    if language not in SCATTERED:
        return None
    places = project.elsewhere.get((FAMILIES[language], qualified), ())
    alone = places[0] if len(places) == 1 else None
    return project.beside.get((dirname(place.path), qualified), alone)


def _guess(names: Names, path: str, reference: Reference, rest: Sequence[str]) -> Reached | None:
    """Return the method that is called so, where there is only one it can be."""
    language = names.project.files[path].language
    if language is None or not rest or rest[-1] in builtin_names.METHODS[language]:
        return None
    owner = _owner(names.project, path, reference.source)
    if owner and language in SCATTERED and len(rest) == 1:
        found = _of_type(names.project, Place(path=path, qualified=owner), rest[0])
        if found is not None:
            return Reached(place=found, confidence=SAME_TYPE)
    places = names.project.named.get((FAMILIES[language], rest[-1]), ())
    return Reached(place=places[0], confidence=ONLY_ONE) if len(places) == 1 else None
