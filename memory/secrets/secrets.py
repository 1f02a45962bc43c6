"""Secrets in a text: where they are, of what kind, and the text without them.

Two sets of rules look at a text, and at every other way of reading it (`secret_forms`): our own
(`secret_rules`) and a catalog of services, which the caller hands in, for it is no pure code. A
finding names a kind and a place, never the value.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from accounts.messages import Message, message
from memory.secrets import secret_scan
from memory.secrets.secret_forms import Form, forms, unmarked
from memory.secrets.secret_readings import Readings
from memory.secrets.secret_rules import Match, SecretKind
from memory.secrets.secret_values import is_placeholder

__all__ = [
    "Catalog",
    "Finding",
    "Place",
    "SecretKind",
    "find",
    "find_spoken",
    "kinds",
    "places",
    "redact",
    "says",
]

Catalog = Callable[[str], Iterable[Match]]
MOST_TOLD: Final = 20  # findings named in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A secret's kind and place (indices into the text); never its value."""

    kind: SecretKind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A finding as people look it up: line and column, both counted from 1."""

    kind: SecretKind
    line: int
    column: int


def find(*, text: str, catalog: Catalog) -> tuple[Finding, ...]:
    """Find what looks like a secret, in order; overlapping findings are joined."""
    return _found(text, _Look(catalog=catalog))


def find_spoken(*, text: str, catalog: Catalog) -> tuple[Finding, ...]:
    """Find secrets in a turn, also those that show only once marks of emphasis are left out."""
    look = _Look(catalog=catalog)
    found = list(_found(text, look))
    bare = unmarked(text=text)
    if bare is not None:
        for inner in _found(bare.text, look):
            start, end = bare.span(inner.start, inner.end)
            found.append(Finding(kind=inner.kind, start=start, end=end))
    return _joined(found)


def redact(*, text: str, findings: tuple[Finding, ...]) -> str:
    """Replace each finding by its kind in brackets, leaving the rest as it is."""
    return _with(text, _joined(list(findings)), lambda found: f"[redacted: {found.kind}]")


def leave_out(*, text: str, findings: tuple[Finding, ...]) -> str:
    """Return a text without what was found, for those who only want the words around it."""
    return " ".join(_with(text, findings, lambda _: " ").split())


def kinds(*, findings: tuple[Finding, ...]) -> tuple[SecretKind, ...]:
    """Return the kinds that were found, each once."""
    return tuple(dict.fromkeys(found.kind for found in findings))


def places(*, text: str, findings: tuple[Finding, ...]) -> tuple[Place, ...]:
    """Return where in a text each finding begins; findings in their order, as `find` gives them."""
    told: list[Place] = []
    line, begins, seen = 1, 0, 0
    for found in findings:  # each line is looked at once, however many findings there are
        line += text.count("\n", seen, found.start)
        begins = max(begins, text.rfind("\n", seen, found.start) + 1)
        seen = found.start
        told.append(Place(kind=found.kind, line=line, column=found.start - begins + 1))
    return tuple(told)


def says(*, places: tuple[Place, ...]) -> Message:
    """Say what a text seems to hold, and where."""
    told = tuple(
        message(
            "{kind} at line {line}, column {column}",
            kind=one.kind,
            line=one.line,
            column=one.column,
        )
        for one in places[:MOST_TOLD]
    )
    return message("The text holds what looks like a secret: {places}.", places=told)


def _with(text: str, findings: tuple[Finding, ...], said: Callable[[Finding], str]) -> str:
    """Return a text with something said in the place of each finding, put together once."""
    parts: list[str] = []
    done = 0
    for found in findings:
        parts += (text[done : found.start], said(found))
        done = found.end
    return "".join((*parts, text[done:]))


class _Look:
    """A look at all readings of a text; what reads alike is looked at once."""

    def __init__(self, *, catalog: Catalog) -> None:
        self.known: Readings = secret_scan.readings()
        self._catalog = catalog
        self._looked: dict[tuple[str, bool], tuple[Match, ...]] = {}

    def at(self, form: Form) -> tuple[Match, ...]:
        """Return what is found in a form."""
        reading = (form.text, form.is_joined)
        if reading not in self._looked:
            self._looked[reading] = (*self._by_rules(form), *self._by_catalog(form))
        return self._looked[reading]

    def _by_rules(self, form: Form) -> tuple[Match, ...]:
        return secret_scan.scan(text=form.text, is_put_together=form.is_joined, known=self.known)

    def _by_catalog(self, form: Form) -> Iterator[Match]:
        for match in self._catalog(form.text):
            if not is_placeholder(form.text[match.start : match.end]):
                yield match


def _found(text: str, look: _Look) -> tuple[Finding, ...]:
    found = [_finding(match) for match in look.at(Form(text=text))]
    for form in forms(text=text, known=look.known):
        found.extend(_placed(form, look.at(form)))
    return _joined(found)


def _placed(form: Form, matches: tuple[Match, ...]) -> Iterator[Finding]:
    """Yield what was found in a form, where it stands in the text: two that read alike differ."""
    for match in matches:
        start, end = form.span(match.start, match.end)
        kind = SecretKind.ENCODED_SECRET if form.is_decoded else match.kind
        yield Finding(kind=kind, start=start, end=end)


def _finding(match: Match) -> Finding:
    return Finding(kind=match.kind, start=match.start, end=match.end)


def _joined(findings: list[Finding]) -> tuple[Finding, ...]:
    """Join what overlaps; what the text says plainly names the kind, not what an encoding hides."""
    joined: list[Finding] = []
    for found in sorted(findings, key=lambda finding: (finding.start, -finding.end)):
        if joined and found.start < joined[-1].end:
            last = joined[-1]
            is_hidden = last.kind is SecretKind.ENCODED_SECRET
            kind = found.kind if is_hidden else last.kind
            joined[-1] = replace(last, kind=kind, end=max(last.end, found.end))
        else:
            joined.append(found)
    return tuple(joined)
