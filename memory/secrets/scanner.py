"""Find secrets in texts: our rules and Kingfisher's, in every reading of a text.

A text can be read as it is, decoded, and with broken lines joined. A reading keeps of which pieces
of its parent's text it is made, so what is found in it can be placed, and taken out, in the first
text. Two readings may read alike and yet come from other parts of it, so none is left out for that.

`python -m memory.secrets.scanner --into FOLDER` compiles Kingfisher's rules beside the models, a
step of the first start; `prepare` reads what was compiled. The library reads only what belongs to
the user who asks; for others it compiles again, half a minute in each process.
"""

import argparse
import binascii
import html
import logging
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from memory.client.masking import find_by_table, is_placeholder
from memory.providers import registry
from memory.secrets import findings
from memory.secrets.findings import Finding, SecretKind

if TYPE_CHECKING:
    from kingfisher_sdk import Rules, Scanner

log = logging.getLogger(__name__)

CONFIDENCE: Final = "medium"  # of the catalog's rules: those that need no guess
ADDRESS_RULE: Final = "betterleaks.generic-credential-uri"  # what our own does for addresses
FOLDER: Final = "secret-rules"  # beside the models
BYPASSED: Final = "bypassed"  # what the library says where it may not read what was compiled
PACKAGE: Final = "kingfisher_sdk"
STEP: Final = 49_152  # bytes from window to window: some rules cost the square of what they scan
OVERLAP: Final = 16_384  # bytes of both windows; only blocks of PEM are longer, which ours find
CONTINUATIONS: Final = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character
DEEPEST: Final = 2  # encodings one inside of another, as gitleaks
ENCODED_LEAST: Final = 16  # characters of what is tried as an encoding; default, not measured

_ESCAPE: Final = re.compile(  # one of few signs begins it: they are found at once
    r"[\\%&\u00ad\u200b-\u200d\u2060\ufeff\uff01-\uff5e]"
    r"(?:(?<=\\)(?:u(?P<u>[0-9A-Fa-f]{4})|x(?P<x>[0-9A-Fa-f]{2})|(?P<c>[\"'`/\\nrt]))"
    r"|(?<=%)(?P<p>[0-9A-Fa-f]{2})"
    r"|(?<=&)(?:(?P<e>[A-Za-z]{2,8});|#(?P<d>\d{2,6});|#[xX](?P<h>[0-9A-Fa-f]{2,5});)"
    r"|(?<=(?P<n>[\u00ad\u200b-\u200d\u2060\ufeff]))[\u00ad\u200b-\u200d\u2060\ufeff]*"
    r"|(?<=(?P<w>[\uff01-\uff5e])))"
)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ENCODED: Final = re.compile(  # with a digit or a capital, which names of code often lack
    rf"(?<![\w+/-])(?=[a-z+/_-]*+[A-Z0-9])[A-Za-z0-9+/_-]{{{ENCODED_LEAST},}}={{0,2}}(?![\w+/=-])"
)
_LINE_BREAK: Final = re.compile(  # in a word: with a backslash, quotes, a plus, or quoted again
    r"[ \t\\\"'\r\n](?<=[A-Za-z0-9+/_.=-]{8}[ \t\\\"'\r\n])"
    r"(?:(?<=[ \t])[ \t]*+(?:\\|[\"'][ \t]*+[+.\\]?)?[ \t]*+\r?\n|(?<=\\)[ \t]*+\r?\n"
    r"|(?<=[\"'])[ \t]*+[+.\\]?[ \t]*+\r?\n|(?<=\r)\n|(?<=\n))[ \t>|#*]*+[\"']?"
    r"(?=[A-Za-z0-9+/_.=-]{8})"
)
_MARK: Final = re.compile(r"\*\*|__|~~")  # of emphasis; who reads a turn leaves them out
_DASHED: Final = str.maketrans("-_", "+/")
_LAYOUT: Final = str.maketrans("", "", "\r\n\t")  # not printable, and yet in every text

_lock = Lock()


class _Piece(NamedTuple):
    """A part of a reading from `start` on, and the span of the parent's text it was made from.

    Of a copied piece each character stands for one, of any other all stand for the whole span.
    """

    start: int
    source_start: int
    source_end: int
    is_copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """A text read in one way, made of pieces of its parent's; the first text has no parent."""

    text: str
    parent: "TextReading | None" = None
    pieces: tuple[_Piece, ...] = ()
    is_joined: bool = False
    is_decoded: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of this reading stands in the first text."""
        if self.parent is None:
            return start, end
        return self.parent.span(self._source(start)[0], self._source(end - 1)[1])

    def _source(self, at: int) -> tuple[int, int]:
        piece = self.pieces[bisect_right(self.pieces, at, key=lambda one: one.start) - 1]
        if not piece.is_copied:
            return piece.source_start, piece.source_end
        place = piece.source_start + at - piece.start
        return place, place + 1


def find_secrets(*, text: str, is_spoken: bool = False) -> tuple[Finding, ...]:
    """Find what looks like a secret, in order; overlapping findings are merged.

    In a turn, which is spoken, also what shows only once marks of emphasis are left out.
    """
    every = readings(text=text, is_spoken=is_spoken)
    return find(every=every, catalog=_find_by_catalog) if text else ()


def find_without_loading(*, text: str) -> tuple[Finding, ...]:
    """Find as `find_secrets` does, by our rules alone while the catalog is not loaded.

    For lines of the log: to load the catalog is logged itself, under the lock.
    """
    is_loaded = _load.cache_info().currsize > 0 and not _lock.locked()
    return find(every=readings(text=text), catalog=_find_by_catalog if is_loaded else no_catalog)


def find(
    *, every: Iterable[TextReading], catalog: Callable[[str], Iterable[tuple[int, int]]]
) -> tuple[Finding, ...]:
    """Find by our rules and a catalog in every reading of a text; in order, overlaps merged."""
    found: list[Finding] = []
    for reading in every:
        here = [
            Finding(kind=SecretKind(kind), start=start, end=end)
            for kind, start, end in find_by_table(text=reading.text, is_joined=reading.is_joined)
        ]
        here += (
            Finding(kind=SecretKind.VENDOR_KEY, start=start, end=end)
            for start, end in catalog(reading.text)
            if not is_placeholder(reading.text[start:end])
        )
        for one in here:
            start, end = reading.span(one.start, one.end)
            kind = SecretKind.ENCODED_SECRET if reading.is_decoded else one.kind
            found.append(Finding(kind=kind, start=start, end=end))
    return findings.merge_overlaps(findings=found)


def no_catalog(_: str) -> tuple[tuple[int, int], ...]:
    """Find nothing: for a search by our own rules alone."""
    return ()


def fault_of(*, text: str) -> str:
    """Return a message that names kind and place of what a text holds; empty for nothing."""
    found = find_secrets(text=text)
    return findings.message_of(text=text, findings=found) if found else ""


def without_secrets(*, text: str) -> str:
    """Return a text with each secret replaced by its kind in brackets."""
    return findings.redact(text=text, findings=find_secrets(text=text))


def prepare() -> None:
    """Read the rules, so that the first write need not wait for it."""
    _scanner()


def fault() -> str:
    """Say why the rules cannot be read, so that no text can be stored; empty when they can."""
    try:
        prepare()
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        return (str(error).strip() or type(error).__name__).splitlines()[0]
    return ""


def compile_rules(*, into: Path) -> bool:
    """Compile the rules into a folder, unless this package's stand there; say whether it did."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"The package {PACKAGE} is not installed.")
    installed = Path(spec.origin).stat().st_ctime
    folder = into / FOLDER
    if any(file.stat().st_mtime >= installed for file in folder.glob("*.vscdb")):
        return False
    _load(into)
    return True


def main() -> None:
    """Run the step of the start."""
    parser = argparse.ArgumentParser(description="Compile the rules about secrets.")
    parser.add_argument("--into", type=Path, required=True, help="the folder of the models")
    parser.add_argument(
        "--check", action="store_true", help="fail where this user may not read what was compiled"
    )
    asked = parser.parse_args()
    compile_rules(into=asked.into)
    if asked.check and _rules(asked.into).cache_status == BYPASSED:
        raise SystemExit(f"Give {asked.into / FOLDER} and its files to the user who runs Cairn.")


def _find_by_catalog(text: str) -> Iterator[tuple[int, int]]:
    """Yield where Kingfisher finds something, in characters."""
    written = text.encode("utf-8", errors="replace")
    starts = range(0, max(1, len(written) - OVERLAP), STEP)
    spans = sorted({span for start in starts for span in _scan_window(written, start)})
    at: dict[int, int] = {}
    count = done = 0
    for offset in sorted({offset for span in spans for offset in span}):
        count += len(written[done:offset].translate(None, CONTINUATIONS))
        at[offset] = count
        done = offset
    yield from ((at[start], at[end]) for start, end in spans)


def _scan_window(written: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield where Kingfisher finds something in the window that begins there, in bytes.

    What touches an edge within the text may be half of something: the next window has the whole.
    """
    window = written[start : start + STEP + OVERLAP]
    is_first, is_last = start == 0, start + len(window) == len(written)
    for found in _scanner().scan(window):
        first, last = found.location["start_offset"], found.location["end_offset"]
        is_whole = (first > 0 or is_first) and (last < len(window) or is_last)
        if is_whole and found.visible and found.rule_id != ADDRESS_RULE:
            yield start + first, start + last


def _scanner() -> "Scanner":
    with _lock:  # of two threads at once, one reads the rules
        return _load(registry.models_dir())


@cache
def _load(models: Path) -> "Scanner":
    from kingfisher_sdk import Scanner  # noqa: PLC0415  36 MB that no start waits for

    return Scanner(_rules(models), base64=False, redact=True)


def _rules(models: Path) -> "Rules":
    from kingfisher_sdk import Rules  # noqa: PLC0415  as above

    folder = models / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    rules = Rules(confidence=CONFIDENCE, cache_dir=folder)
    level = logging.WARNING if rules.cache_status == BYPASSED else logging.INFO
    log.log(level, "Rules about secrets: %d, %s", len(rules), rules.cache_status)
    return rules


def readings(*, text: str, is_spoken: bool = False) -> Iterator[TextReading]:
    """Yield a text and every other reading of it; of what is spoken also without emphasis."""
    plain = TextReading(text=text)
    bases = [plain]
    if is_spoken and (unmarked := _rewritten(plain, _MARK, lambda _: "")) is not None:
        bases.append(unmarked)
    for base in bases:
        for reading in _decodings(base):
            yield reading
            joined = _rewritten(reading, _LINE_BREAK, lambda _: "", is_joined=True)
            if joined is not None:
                yield from _decodings(joined, deepest=1)


def _decodings(reading: TextReading, deepest: int = DEEPEST) -> Iterator[TextReading]:
    """Yield a reading, with its escapes resolved, with its encodings taken off, and both again."""
    yield reading
    if not deepest:
        return
    for pattern, meaning in ((_ESCAPE, _unescaped), (_ENCODED, _decoded)):
        plainer = _rewritten(reading, pattern, meaning, is_decoded=True)
        if plainer is not None:
            yield from _decodings(plainer, deepest - 1)


def _rewritten(
    reading: TextReading,
    pattern: re.Pattern[str],
    written: Callable[[re.Match[str]], str | None],
    *,
    is_joined: bool = False,
    is_decoded: bool = False,
) -> TextReading | None:
    """Return the lines in which a pattern finds something, with that written another way.

    None where there are none. What `written` returns None for stays as it is.
    """
    text = reading.text
    parts: list[str] = []
    pieces: list[_Piece] = []
    length = done = 0

    def add(part: str, start: int, end: int, is_copied: bool) -> None:
        nonlocal length
        if part:
            parts.append(part)
            pieces.append(_Piece(length, start, end, is_copied))
            length += len(part)

    for found in pattern.finditer(text):
        new = written(found)
        if new is None:
            continue
        start, end = found.span()
        line = text.rfind("\n", 0, start) + 1
        if line > done:
            if done:
                rest = text.index("\n", done) + 1
                add(text[done:rest], done, rest, True)
            done = line
        add(text[done:start], done, start, True)
        add(new, start, end, False)
        done = end
    if not done:
        return None
    rest = text.find("\n", done)
    add(text[done:] if rest < 0 else text[done:rest], done, len(text) if rest < 0 else rest, True)
    return TextReading(
        text="".join(parts),
        parent=reading,
        pieces=tuple(pieces),
        is_joined=reading.is_joined or is_joined,
        is_decoded=reading.is_decoded or is_decoded,
    )


def _unescaped(found: re.Match[str]) -> str:
    """Return what an escape stands for: a character, or none for one that nobody sees."""
    kind = found.lastgroup or ""
    written = found[kind]
    if kind == "n":
        return ""
    if kind == "w":
        return unicodedata.normalize("NFKC", written)
    if kind == "e":
        return html.unescape(f"&{written};").replace("\xa0", " ")
    if kind == "c":
        return _CONTROLS.get(written, written)
    code = int(written, 10 if kind == "d" else 16)
    return chr(code) if code < 0x110000 else ""


def _decoded(found: re.Match[str]) -> str | None:
    """Return what a word says in base64 or hexadecimal; None where it is neither."""
    word = found.group()
    standard = word.translate(_DASHED).rstrip("=")
    padded = standard + "=" * (-len(standard) % 4)
    for decode, written in ((binascii.unhexlify, word), (binascii.a2b_base64, padded)):
        try:
            decoded = decode(written).decode("utf-8")
        except (binascii.Error, ValueError):
            continue  # it is not written that way
        if decoded and decoded.translate(_LAYOUT).isprintable():
            return decoded
    return None


if __name__ == "__main__":
    main()
