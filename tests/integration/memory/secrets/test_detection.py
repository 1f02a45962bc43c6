"""What the scanner finds of secrets of over 100 kinds, and leaves of clean texts (figure G16)."""

import base64
import json
import random
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from memory.secrets import scanner
from memory.secrets.scanner import find_secrets, without_secrets
from tests.support import secret_kinds
from tests.support.goals import Scale
from tests.support.secret_kinds import KINDS, Kind, filled

LEAST_RECALL: Final = 0.95  # G16, of the half that is held out
MOST_FALSE: Final = 0.01  # G16, of clean texts
LEAST_KINDS: Final = 80
LEAST_CONTEXTS: Final = 5
LEAST_CLEAN: Final = 2_000
SEED: Final = 20261122


ROOT: Final = Path(__file__).parents[2]
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


def _prose(kind: Kind, value: str) -> str:
    name = kind.variable.lower().replace("_", " ")
    return f"For the nightly job the {name} is {value} until the next rotation."


def _environment(kind: Kind, value: str) -> str:
    return f"{kind.variable}={value}"


def _document(kind: Kind, value: str) -> str:
    return json.dumps({"service": "shop", kind.variable.lower(): value, "retries": 3}, indent=2)


def _program(kind: Kind, value: str) -> str:
    return f'import shop\n\n{kind.variable} = "{value}"\nshop.connect({kind.variable})\n'


def _yaml(kind: Kind, value: str) -> str:
    return f"shop:\n  region: eu\n  {kind.variable.lower()}: {value}\n  debug: false\n"


def _shell(kind: Kind, value: str) -> str:
    return f"We deploy with:\n\n```sh\nexport {kind.variable}='{value}'\nmake deploy\n```\n"


VALUES: Final[Mapping[str, Callable[[Kind, str], str]]] = {
    "prose": _prose,
    "environment": _environment,
    "json": _document,
    "program": _program,
    "yaml": _yaml,
    "shell": _shell,
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


def _unicode_escaped(text: str) -> str:
    return "".join(f"\\u{ord(one):04x}" for one in text)


ENCODINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "base64": lambda text: f"data:\n  blob: {_base64(text)}\n",
    "base64_twice": lambda text: f"payload {_base64(_base64(text))} end",
    "hex": lambda text: f"dump {text.encode().hex()} end",
    "percent": lambda text: f"GET /save?q={quote(text, safe='')} HTTP/1.1",
    "percent_all": lambda text: "q=" + "".join(f"%{byte:02X}" for byte in text.encode()),
    "json_escapes": lambda text: f'{{"note": "{_unicode_escaped(text)}"}}',
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
            text = value if kind.is_line else _environment(kind, value)
            yield _planted(number, kind, context, encode(text), value)
        if not kind.is_line:
            value = kind.value(draw=draw)
            half = len(value) // 2
            broken = f'key = ("{value[:half]}"\n       "{value[half:]}")'
            yield _planted(number, kind, "broken", f"# {kind.variable}\n{broken}", value)


def _planted(number: int, kind: Kind, context: str, text: str, value: str) -> Planted:
    is_held_out = number % 2 == 1
    return Planted(
        kind=kind.name,
        context=context,
        text=text,
        heart=kind.heart(value=value),
        is_held_out=is_held_out,
    )


CLEAN_FORMS: Final = (
    "Commit {h40} broke the build on main.",
    "Reverted in {h7}, see {h10} for the reason.",
    "The image is shop@sha256:{h64} since Tuesday.",
    "sha256sum says {h64}  shop.tar.gz",
    "md5: {h32}",
    'integrity="sha512-{b86}=="',
    'ETag: "{h32}"',
    "Session {h8}-{h4}-4{h3}-a{h3}-{h12} was slow.",
    "request_id={h8}-{h4}-4{h3}-9{h3}-{h12} took 812 ms",
    "trace id {h32}, span id {h16}",
    "password = os.environ['DB_PASSWORD_{U4}']",
    'password = "changeme"  # example {d3}',
    "DB_PASSWORD=<your password here> # {d4}",
    "API_KEY=${SHOP_API_KEY_{U3}}",
    "token: ${{ secrets.DEPLOY_TOKEN_{U3} }}",
    'api_key: "{{ .Values.apiKey{d2} }}"',
    "SECRET_KEY = env.str('SECRET_KEY_{U3}')",
    "const token{d2} = await getToken(user.id);",
    "The token expires after {d4} seconds, then the client refreshes it.",
    "max_tokens={d4} temperature=0.{d1} top_p=0.{d2}",
    "The password policy asks for {d2} characters and a digit.",
    "key-value store shard {d3}: primary key (tenant_id, id)",
    "def check_password{d2}(raw: str, hashed: str) -> bool: ...",
    "passwords are hashed with argon2id, m={d5}, t=3, p=4",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} deploy@shop",
    "-----BEGIN PUBLIC KEY-----\n{b64}\n{b64}\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----",
    "pk_live_{A24} is the publishable key and may be public.",
    "See https://git.internal/shop/-/merge_requests/{d4}#note_{d7}.",
    "https://cdn.internal/assets/app.{h20}.js is cached for a year.",
    "go.sum: golang.org/x/net v0.{d2}.0 h1:{b43}=",
    '"resolved": "https://registry.internal/a/-/a-1.{d2}.0.tgz", "integrity": "sha512-{b86}=="',
    "s3://shop-{L8}/backups/2026-11-{d2}/dump.tar.gz",
    "arn:aws:iam::{d12}:role/deploy-{L6}",
    "kubectl -n shop logs pod/cart-{L9}-{L5}",
    "192.168.{d2}.{d2}:5432 answers; 10.0.{d2}.1 does not.",
    "The secret of the {L6} module is that it does one thing.",
    "Use a token of the vault, path secret/data/shop-{L6}.",
    "Authorization: Bearer <token-{d2}>",
    "curl -u $USER_{U2}:$PASSWORD https://api.internal",
    "postgresql://app:${DB_PASSWORD}@db-{L4}:5432/shop",
    "postgres://user:password@localhost:5432/shop_{L4}",
    "amqp://guest:guest@localhost:56{d2}//",
    "git_sha: {h40}\nbuilt_at: 2026-11-{d2}",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b80}",
    'blob = "{b60}"',
    "X-Amzn-Trace-Id: Root=1-{h8}-{h24}",
    "ObjectId('{h24}')",
    "token count is {d5}, token_budget: {d4}",
    "error TOKEN_EXPIRED_{d4}: the access token is not valid any more",
    "passwordResetUrl = `/reset/${uid}/step{d2}`",
    "credentials: 'include', mode: 'cors', retry: {d2}",
    "public_key_id = {h16}",
    "fingerprint SHA256:{b43}",
    "[redacted: assigned_secret] was there before; {d3}",
    "private_key_path = /etc/shop/keys/tls-{L4}.pem",
    "token_type: bearer, expires_in: {d4}",
    "password: string(min={d2}, max=128)",
    "The API key is passed as header X-Api-Key by gateway{d2}.",
    "The access token is RS256-signed and lives {d2} minutes.",
    "The credentials are OAuth2-based, the password is argon2id-hashed, m={d5}.",
    "The token expiry is 20{d2}-01-31T00:00:00Z.",
    "The password policy is OWASP-20{d2}.",
    "The cache key is sha256(userId+tenantId) in version {d2}.",
    "The key class is PaymentGatewayV{d1}Client.",
    "Module {L6} hands the key to OAuth2AuthorizationServer.",
    "PASSWORD_HASHERS[{d1}] = 'django.contrib.auth.hashers.Argon2PasswordHasher'",
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
    files = (file for folder in OURS for file in sorted((ROOT / folder).rglob("*")))
    ours = tuple(file for file in files if file.suffix in {".py", ".md"})
    yield from _some(ours, CLEAN_OURS, draw)


def _some(files: tuple[Path, ...], count: int, draw: random.Random) -> Iterator[str]:
    texts = [text for file in files if file.exists() for text in _texts(file)]
    yield from draw.sample(texts, min(count, len(texts)))


def _texts(file: Path) -> Iterator[str]:
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    for start in range(0, len(lines), LINES_A_TEXT):
        if text := "\n".join(lines[start : start + LINES_A_TEXT]).strip():
            yield text


@pytest.fixture(scope="module")
def corpus() -> tuple[Planted, ...]:
    """Every kind in every context and encoding."""
    scanner.prepare()
    return tuple(planted(seed=SEED))


@pytest.mark.goal(name="G16")
def test_planted_secrets_are_found(
    corpus: tuple[Planted, ...], figure: Callable[[str], None]
) -> None:
    contexts = {kind: {one.context for one in corpus if one.kind == kind} for kind in _kinds()}

    recalls = {
        held: _recall([one for one in corpus if one.is_held_out is held]) for held in (False, True)
    }

    assert len(contexts) >= LEAST_KINDS
    assert min(len(found) for found in contexts.values()) >= LEAST_CONTEXTS
    assert min(recalls.values()) >= LEAST_RECALL
    figure(
        f"recall {recalls[False]:.2%} of the half looked at, {recalls[True]:.2%} of the half held "
        f"out; {len(corpus):,} texts, {len(contexts)} kinds"
    )


def test_a_redacted_text_holds_nothing_of_a_planted_secret(corpus: tuple[Planted, ...]) -> None:
    for one in corpus:
        if find_secrets(text=one.text):
            redacted = without_secrets(text=one.text)
            assert one.heart not in redacted, one
            assert find_secrets(text=redacted) == (), one


@pytest.mark.goal(name="G16")
def test_clean_texts_are_let_through(figure: Callable[[str], None]) -> None:
    texts = tuple(clean(seed=SEED))

    wrong = [text for text in texts if find_secrets(text=text)]

    assert len(texts) >= LEAST_CLEAN
    assert len(wrong) / len(texts) <= MOST_FALSE, wrong[:5]
    figure(f"{len(wrong)} of {len(texts):,} clean texts refused ({len(wrong) / len(texts):.2%})")


def test_places_are_counted_in_characters() -> None:
    kind = next(kind for kind in secret_kinds.KINDS if kind.name == "gitlab_deploy")
    values = [kind.value(draw=random.Random(number)) for number in range(200)]
    text = "".join(f"日é {value}\n" for value in values)

    found = find_secrets(text=text)

    assert [text[one.start : one.end] for one in found] == values


@pytest.mark.goal(name="G16")
def test_looking_at_a_memory_takes_its_time(scale: Scale, figure: Callable[[str], None]) -> None:
    scanner.prepare()
    ours = "\n".join(clean(seed=SEED))
    rounds = scale.of(short=60, long=2_000)

    spent = {
        size: sorted(_milliseconds(ours[at * size : (at + 1) * size]) for at in range(rounds))
        for size in (1_000, 4_000)
    }

    assert all(len(times) == rounds and times[0] > 0 for times in spent.values())
    for size, times in spent.items():
        p95 = times[int(len(times) * 0.95)]
        figure(f"{size:,} characters: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms")


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


def _kinds() -> tuple[str, ...]:
    return tuple(kind.name for kind in secret_kinds.KINDS)


def _recall(planted: list[Planted]) -> float:
    return sum(bool(find_secrets(text=one.text)) for one in planted) / len(planted)


def _milliseconds(text: str) -> float:
    began = time.thread_time()  # others share the machine
    find_secrets(text=text)
    return (time.thread_time() - began) * 1_000


@pytest.mark.parametrize("edge", [scanner.STEP, scanner.STEP + scanner.OVERLAP])
@pytest.mark.parametrize("before", [-40, -39, -20, -1, 0, 1])
def test_a_key_is_found_whole_where_windows_begin_and_end(edge: int, before: int) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    prose = "the queue drains in order, " * (2 * edge // 27)
    start = edge + before

    found = find_secrets(text=f"{prose[: start - 1]} {key} {prose}")

    assert [(one.start, one.end) for one in found] == [(start, start + len(key))]
