"""The rules of Kingfisher about the keys of 400 services, and our own beside them.

Everything is done in this process; whether a key still opens anything is never tried, for that
would send it away. Compiling the rules takes ten seconds, so that is a step of the first start
(`python -m memory.secrets.secret_catalog --into FOLDER`) and kept beside the models; reading what
was compiled takes one, so a server does it while it starts (`prepare`).
"""

import argparse
import logging
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from memory.providers import registry
from memory.secrets import secrets
from memory.secrets.secret_rules import Match, SecretKind
from memory.secrets.secrets import Finding

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


def find_secrets(*, text: str) -> tuple[Finding, ...]:
    """Find what looks like a secret, in order; an empty text is not looked through."""
    return secrets.find(text=text, catalog=_catalog) if text else ()


def find_spoken(*, text: str) -> tuple[Finding, ...]:
    """Find what looks like a secret in a turn, also between marks of emphasis."""
    return secrets.find_spoken(text=text, catalog=_catalog) if text else ()


def fault_of(*, text: str) -> str:
    """Return a sentence that names kind and place of what a text holds; empty for nothing."""
    findings = find_secrets(text=text)
    return secrets.says(places=secrets.places(text=text, findings=findings)) if findings else ""


def without_secrets(*, text: str) -> str:
    """Return a text with each secret replaced by its kind in brackets."""
    return secrets.redact(text=text, findings=find_secrets(text=text))


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
    _read(into)
    return True


def main() -> None:
    """Run the step of the start."""
    parser = argparse.ArgumentParser(description="Compile the rules about secrets.")
    parser.add_argument("--into", type=Path, required=True, help="the folder of the models")
    compile_rules(into=parser.parse_args().into)


def _catalog(text: str) -> Iterator[Match]:
    written = text.encode("utf-8", errors="replace")
    starts = range(0, max(1, len(written) - OVERLAP), STEP)
    spans = sorted({span for start in starts for span in _spans(written, start)})
    if not spans:
        return
    at = _characters(written, {offset for span in spans for offset in span})
    for start, end in spans:
        yield Match(kind=SecretKind.VENDOR_KEY, start=at[start], end=at[end])


def _spans(written: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield where the catalog finds something in the window that begins there.

    What touches an edge within the text may be half of something: the next window has the whole.
    """
    window = written[start : start + STEP + OVERLAP]
    is_first, is_last = start == 0, start + len(window) == len(written)
    for found in _scanner().scan(window):
        first, last = found.location["start_offset"], found.location["end_offset"]
        is_whole = (first > 0 or is_first) and (last < len(window) or is_last)
        if is_whole and found.visible and found.rule_id != ADDRESS_RULE:
            yield start + first, start + last


def _characters(written: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Return for bytes of a written text how many characters begin before each; one pass."""
    found: dict[int, int] = {}
    count = done = 0
    for offset in sorted(offsets):
        count += len(written[done:offset].translate(None, CONTINUATIONS))
        found[offset] = count
        done = offset
    return found


def _scanner() -> "Scanner":
    with _lock:  # of two threads at once, one reads the rules
        return _read(registry.models_dir())


@cache
def _read(models: Path) -> "Scanner":
    from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  36 MB that no start waits for

    folder = models / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    rules = Rules(confidence=CONFIDENCE, cache_dir=folder)
    log.info("Rules about secrets: %d, %s", len(rules), rules.cache_status)
    return Scanner(rules, base64=False, redact=True)


if __name__ == "__main__":
    main()
