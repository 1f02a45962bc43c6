"""What the scanner finds of secrets of over 100 kinds, and leaves of clean texts (figure G16)."""

import base64
import json
import random
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from memory.secrets import findings, scanner
from memory.secrets.scanner import find_secrets
from tests.support.secret_kinds import KINDS, Kind, filled

LEAST_RECALL: Final = 0.95  # G16, of the half that is held out
MOST_FALSE: Final = 0.01  # G16, of clean texts
LEAST_KINDS: Final = 80
LEAST_CONTEXTS: Final = 5
LEAST_CLEAN: Final = 2_000
SEED: Final = 20261122


ROOT: Final = Path(__file__).parents[4]
LINES_A_TEXT: Final = 14  # of a file, as one text
CLEAN_DRAWN: Final = 1_400
CLEAN_LIBRARY: Final = 900
CLEAN_OURS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A text, the heart of the secret in it, and where that came from."""

    kind: str
    context: str
    text: str
    heart: str
    is_held_out: bool


VALUES: Final[Mapping[str, Callable[[Kind, str], str]]] = {
    "prose": lambda kind, value: (
        f"For the nightly job the {kind.variable.lower().replace('_', ' ')} is {value} until the "
        "next rotation."
    ),
    "environment": lambda kind, value: f"{kind.variable}={value}",
    "json": lambda kind, value: json.dumps(
        {"service": "shop", kind.variable.lower(): value, "retries": 3}, indent=2
    ),
    "program": lambda kind, value: (
        f'import shop\n\n{kind.variable} = "{value}"\nshop.connect({kind.variable})\n'
    ),
    "yaml": lambda kind, value: (
        f"shop:\n  region: eu\n  {kind.variable.lower()}: {value}\n  debug: false\n"
    ),
    "shell": lambda kind, value: (
        f"We deploy with:\n\n```sh\nexport {kind.variable}='{value}'\nmake deploy\n```\n"
    ),
}
LINES: Final[Mapping[str, Callable[[Kind, str], str]]] = {
    "alone": lambda _, value: value,
    "prose": lambda _, value: f"It only works like this: {value} and nothing else does.",
    "quoted": lambda _, value: f"> Ada wrote:\n> {value}\n",
    "fence": lambda _, value: f"Run this:\n\n```\n{value}\n```\n",
    "json": lambda _, value: json.dumps({"note": value}),
    "comment": lambda _, value: f"# {value}\nrun()\n",
}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "base64": lambda text: f"data:\n  blob: {_base64(text)}\n",
    "base64_twice": lambda text: f"payload {_base64(_base64(text))} end",
    "hex": lambda text: f"dump {text.encode().hex()} end",
    "percent": lambda text: f"GET /save?q={quote(text, safe='')} HTTP/1.1",
    "percent_all": lambda text: "q=" + "".join(f"%{byte:02X}" for byte in text.encode()),
    "json_escapes": lambda text: '{"note": "' + "".join(f"\\u{ord(c):04x}" for c in text) + '"}',
}


def planted(*, seed: int) -> Iterator[Planted]:
    """Yield every kind in every context and encoding, and broken over lines."""
    for number, kind in enumerate(KINDS):
        draw = random.Random(f"{seed} {kind.name}")
        for context, write in (LINES if kind.is_line else VALUES).items():
            value = kind.value(draw=draw)
            yield _planted(number, kind, context, write(kind, value), value)
        for context, encode in ENCODINGS.items():
            value = kind.value(draw=draw)
            text = value if kind.is_line else f"{kind.variable}={value}"
            yield _planted(number, kind, context, encode(text), value)
        if not kind.is_line:
            value = kind.value(draw=draw)
            half = len(value) // 2
            broken = f'key = ("{value[:half]}"\n       "{value[half:]}")'
            yield _planted(number, kind, "broken", f"# {kind.variable}\n{broken}", value)


def _planted(number: int, kind: Kind, context: str, text: str, value: str) -> Planted:
    heart, is_held_out = kind.heart(value=value), number % 2 == 1
    return Planted(kind=kind.name, context=context, text=text, heart=heart, is_held_out=is_held_out)


CLEAN_FORMS: Final = tuple(
    line.replace("\\n", "\n")
    for line in Path("tests/support/secrets_clean.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("# ")
)
CLEAN_MODULES: Final = (  # of Python's library
    "getpass.py", "secrets.py", "hmac.py", "ssl.py", "netrc.py", "smtplib.py", "imaplib.py",
    "ftplib.py", "tokenize.py", "token.py", "hashlib.py", "uuid.py", "base64.py", "http/client.py",
    "http/cookies.py", "http/cookiejar.py", "urllib/request.py", "urllib/parse.py", "pickle.py",
    "zipfile.py", "tarfile.py", "argparse.py", "configparser.py", "datetime.py", "inspect.py",
    "logging/handlers.py", "mailbox.py", "optparse.py", "pydoc.py", "shutil.py", "socket.py",
)  # fmt: skip
OURS: Final = ("frontend/docs", "accounts", "memory", "config", "teams", "frontend/views")


def clean(*, seed: int) -> Iterator[str]:
    """Yield texts that hold no secret."""
    draw = random.Random(seed)
    for number in range(CLEAN_DRAWN):
        yield filled(form=CLEAN_FORMS[number % len(CLEAN_FORMS)], draw=draw)
    library = Path(sysconfig.get_path("stdlib"))
    yield from _some(tuple(library / name for name in CLEAN_MODULES), CLEAN_LIBRARY, draw)
    ours: list[Path] = []
    for folder in OURS:
        found = (file for file in (ROOT / folder).rglob("*") if file.suffix in {".py", ".md"})
        before = len(ours)
        ours += sorted(found)
        assert len(ours) > before, folder
    yield from _some(ours, CLEAN_OURS, draw)


def _some(files: Iterable[Path], count: int, draw: random.Random) -> Iterator[str]:
    texts = [text for file in files if file.exists() for text in _texts(file)]
    yield from draw.sample(texts, min(count, len(texts)))


def _texts(file: Path) -> Iterator[str]:
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    for start in range(0, len(lines), LINES_A_TEXT):
        if text := "\n".join(lines[start : start + LINES_A_TEXT]).strip():
            yield text


@pytest.mark.goal(name="G16")
def test_planted_ones_are_found_and_leave_nothing(figure: Callable[[str], None]) -> None:
    scanner.prepare()
    corpus = tuple(planted(seed=SEED))
    contexts = {kind.name: set[str]() for kind in KINDS}
    seen: dict[bool, list[bool]] = {False: [], True: []}  # by whether it is held out
    for one in corpus:
        found = find_secrets(text=one.text)
        seen[one.is_held_out].append(bool(found))
        contexts[one.kind].add(one.context)
        if found:
            redacted = findings.redact(text=one.text, findings=found)
            assert one.heart not in redacted, one
            assert find_secrets(text=redacted) == (), one

    recalls = [sum(half) / len(half) for half in seen.values()]
    assert len(contexts) >= LEAST_KINDS
    assert min(map(len, contexts.values())) >= LEAST_CONTEXTS
    assert min(recalls) >= LEAST_RECALL
    figure(
        f"recall {recalls[0]:.2%} of the half looked at, {recalls[1]:.2%} of the half held out;"
        f" {len(corpus):,} texts, {len(contexts)} kinds"
    )


@pytest.mark.goal(name="G16")
def test_clean_texts_are_let_through(figure: Callable[[str], None]) -> None:
    texts = tuple(clean(seed=SEED))

    wrong = [text for text in texts if find_secrets(text=text)]

    assert len(texts) >= LEAST_CLEAN
    assert len(wrong) / len(texts) <= MOST_FALSE, wrong[:5]
    figure(f"{len(wrong)} of {len(texts):,} clean texts refused ({len(wrong) / len(texts):.2%})")


def test_places_are_counted_in_characters() -> None:
    kind = next(kind for kind in KINDS if kind.name == "gitlab_deploy")
    values = [kind.value(draw=random.Random(number)) for number in range(200)]
    text = "".join(f"日é {value}\n" for value in values)

    found = find_secrets(text=text)

    assert [text[one.start : one.end] for one in found] == values


@pytest.mark.goal(name="G16")
def test_a_start_does_not_read_the_catalog(figure: Callable[[str], None]) -> None:
    program = (
        "import sys, time; began = time.thread_time(); import memory.secrets.scanner; "
        "print(time.thread_time() - began, 'kingfisher_sdk' in sys.modules)"
    )

    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()

    assert said[1] == "False"
    figure(f"importing the scanner takes {float(said[0]) * 1_000:.0f} ms of a start")


@pytest.mark.parametrize("edge", [scanner.STEP, scanner.STEP + scanner.OVERLAP])
@pytest.mark.parametrize("before", [-40, -39, -20, -1, 0, 1])
def test_a_key_is_found_whole_where_windows_begin_and_end(edge: int, before: int) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    prose = "the queue drains in order, " * (2 * edge // 27)
    start = edge + before

    found = find_secrets(text=f"{prose[: start - 1]} {key} {prose}")

    assert [(one.start, one.end) for one in found] == [(start, start + len(key))]
