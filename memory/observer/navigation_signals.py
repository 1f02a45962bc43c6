"""Signals in how files were looked for: searches, globs, imports, pages of the web."""

import re
from collections.abc import Iterator
from typing import Final

from memory.observer import detections
from memory.observer.detections import KEY_MOST, Sighting, SignalKind, made
from memory.sessions import external_content, file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, edited, in_order
from memory.sessions.tools import Act

# Defaults, not measured, as far as they are no part of a signal's definition.
SEARCH_CALLS: Final = 2  # from a read to the next search
USED_CALLS: Final = 6  # from a read to what was changed instead
GREPS_LEAST: Final = 3
FOUND_NAMED: Final = 3  # files of the last answer to a search
GLOB_CALLS: Final = 8  # from a glob to what was used
CHAIN_LEAST: Final = 3  # files along their imports
PAGE_CALLS: Final = 10  # from a page to the edit that needed it

_FILES: Final = frozenset({Act.READ, Act.EDIT})
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})
_PARTS: Final = re.compile(r"[./:\\, ]+")
_SAYS_LITTLE: Final = frozenset({"index", "__init__", "mod", "main"})


def _is_left(scratchpad: Scratchpad, path: str, folders: set[str]) -> bool:
    """Say whether a file of the repository was read once, and no file beside it was edited."""
    use = scratchpad.files.get(path)
    if use is None or file_paths.is_outside(path=path):
        return False
    folder = path.rpartition("/")[0]
    is_read_once = (use.reads, use.edits) == (1, 0)
    return is_read_once and folder not in folders


def find_read_abandon(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 5: a file that looked right and was not: read, left for another search, never used.

    Seen when a search follows within two calls of the read and an edit of another folder within
    six, the file is never touched again, and nothing in its folder is edited.
    """
    deeds = in_order(scratchpad=scratchpad)
    folders = {path.rpartition("/")[0] for path in edited(scratchpad=scratchpad)}
    for place, deed in enumerate(deeds):
        if deed.act is not Act.READ or deed.is_error:
            continue
        if not _is_left(scratchpad, deed.target, folders):
            continue
        following = deeds[place + 1 : place + 1 + USED_CALLS]
        used = next((one.target for one in following if one.act is Act.EDIT), "")
        near = following[:SEARCH_CALLS]
        if used and any(one.act in _SEARCHES for one in near):
            path, both = deed.target, (deed, *near)
            yield made(SignalKind.READ_ABANDON, path, both, files=(path,), instead=used)


def find_repeated_grep(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 6: the same search three times in one session: its answer is not where one looks.

    Seen when the same pattern, letters compared without case, is searched at least three times.
    """
    by_pattern: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        if deed.act is Act.GREP and deed.target:
            by_pattern.setdefault(deed.target.lower()[:KEY_MOST], []).append(deed)
    for pattern, deeds in by_pattern.items():
        if len(deeds) >= GREPS_LEAST:
            answers = next((deed.found for deed in reversed(deeds) if deed.found), ())[:FOUND_NAMED]
            yield made(
                SignalKind.REPEATED_GREP,
                pattern,
                deeds,
                files=answers,
                times=len(deeds),
                pattern=deeds[-1].target,
                found=", ".join(answers),
            )


def _pages_with_edits(deeds: tuple[Deed, ...]) -> dict[str, list[Deed]]:
    """Return by host each fetch of a page, with the edit that followed it."""
    by_host: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if deed.act is not Act.FETCH or deed.is_error or "://" not in deed.target:
            continue
        following = deeds[place + 1 : place + 1 + PAGE_CALLS]
        edit = next((one for one in following if one.act is Act.EDIT and not one.is_error), None)
        if edit is not None:
            by_host.setdefault(external_content.host(url=deed.target), []).extend((deed, edit))
    return by_host


def find_external_reference(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 10: a page of the web that the work needed.

    Seen when a page with an address was fetched and a file was edited within the next ten calls.
    """
    by_host = _pages_with_edits(in_order(scratchpad=scratchpad))
    for host, both in by_host.items():
        files = tuple(deed.target for deed in both if deed.act is Act.EDIT)
        pages = tuple(dict.fromkeys(deed.target for deed in both if deed.act is Act.FETCH))
        details = {"host": host, "page": pages[-1]}
        times = len(pages)
        yield made(SignalKind.EXTERNAL_REFERENCE, host, both, files=files, times=times, **details)


def find_glob_ignored(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 11: a glob that found files, none of which was what the agent wanted.

    Seen when none of the files it found is touched in the next eight calls, and another one is.
    """
    deeds = in_order(scratchpad=scratchpad)
    by_glob: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if deed.act is not Act.GLOB or not deed.found:
            continue
        following = deeds[place + 1 : place + 1 + GLOB_CALLS]
        used = [one for one in following if one.act in _FILES and not one.is_error]
        if used and not any(_is_found(one.target, deed.found) for one in used):
            by_glob.setdefault(deed.target[:KEY_MOST], []).extend((deed, used[0]))
    for glob, both in by_glob.items():
        files = tuple(deed.target for deed in both if deed.act in _FILES)
        times, details = len(both) // 2, {"glob": glob, "used": files[0]}
        yield made(SignalKind.GLOB_IGNORED, glob, both, files=files, times=times, **details)


def _is_found(path: str, found: tuple[str, ...]) -> bool:
    """Say whether a path is among those found, which may be named from another folder."""
    return any(path == each or f"/{path}".endswith(f"/{each}") for each in found)


def find_import_chase(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 12: from file to file along their imports, to understand one of them.

    Seen when at least three files are read one after another, without an edit in between, each of
    which the one before it imports.
    """
    chains: dict[str, tuple[Deed, ...]] = {}
    chain: tuple[Deed, ...] = ()
    for deed in detections.touches(scratchpad=scratchpad):
        if deed.act is Act.EDIT:
            chain = ()
        elif chain and _imports(chain[-1], deed):
            chain = (*chain, deed)
        elif not chain or deed.target != chain[-1].target:
            chain = (deed,)
        if len(chain) >= CHAIN_LEAST:
            chains[chain[0].target] = chain
    for chain in chains.values():
        files = tuple(deed.target for deed in chain)
        named = (files[0], *files[1:][-(detections.FILES_MOST - 1) :])
        key, details = f"{files[0]}|{files[-1]}", {"first": files[0], "last": files[-1]}
        times = len(chain) - 1
        yield made(SignalKind.IMPORT_CHASE, key, chain, files=named, times=times, **details)


def _imports(importer: Deed, imported: Deed) -> bool:
    """Say whether a file names another among its imports, by its own name or its folder's."""
    folder, _, file = imported.target.rpartition("/")
    stem = file.partition(".")[0]
    name = folder.rpartition("/")[2] if stem in _SAYS_LITTLE else stem
    named = {part for each in importer.found for part in _PARTS.split(each)}
    return importer.target != imported.target and name in named
