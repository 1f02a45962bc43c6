"""Find secrets in texts: our rules and Kingfisher's, in every reading of a text.

`python -m memory.secrets.scanner --into FOLDER` compiles Kingfisher's rules beside the models, a
step of the first start; `prepare` reads what was compiled.
"""

import argparse
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from memory.client.secret_rules import find_by_table, is_placeholder
from memory.providers import registry
from memory.secrets import findings
from memory.secrets.findings import Finding, SecretKind
from memory.secrets.readings import TextReading, readings

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

log = logging.getLogger(__name__)

CONFIDENCE: Final = "medium"  # of the catalog's rules: those that need no guess
ADDRESS_RULE: Final = "betterleaks.generic-credential-uri"  # what our own does for addresses
FOLDER: Final = "secret-rules"  # beside the models
PACKAGE: Final = "kingfisher_sdk"
STEP: Final = 49_152  # bytes from window to window: some rules cost the square of what they scan
OVERLAP: Final = 16_384  # bytes of both windows; only blocks of PEM are longer, which ours find
CONTINUATIONS: Final = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character

_lock = Lock()


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
    compile_rules(into=parser.parse_args().into)


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
    from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  36 MB that no start waits for

    folder = models / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    rules = Rules(confidence=CONFIDENCE, cache_dir=folder)
    log.info("Rules about secrets: %d, %s", len(rules), rules.cache_status)
    return Scanner(rules, base64=False, redact=True)


if __name__ == "__main__":
    main()
