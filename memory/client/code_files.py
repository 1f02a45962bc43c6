"""The files of a project's code on this machine: which there are, what of them is sent.

In a repository git says which belong to it, ignored ones not. What is in no language that the
server reads, no text, too large, made by a tool, or made to hold secrets stays here. Of the others,
secrets are taken out before anything is hashed or sent; a file with a private key in it stays here
whole, because its lines would move.
"""

import hashlib
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import splitext
from typing import Final

from . import repository
from .masking import mask

LARGEST: Final = 1_048_576  # bytes of a file; the server takes no more
LONGEST_PATH: Final = 400  # characters; the server takes no more
GENERATED: Final = re.compile(
    r".*\.min\.(?:js|css)|.*\.map|.*-lock\.(?:json|ya?ml)|.*\.lock|go\.sum|.*\.lockb"
)
SECRET: Final = re.compile(
    r"\.env(?:\.(?!example|sample|template|dist).*)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\..*)?|\.(?:netrc|pgpass|htpasswd|npmrc|pypirc)"
    r"|credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml))?|.*\.tfstate(?:\..*)?"
    r"|.*\.tfvars(?:\.json)?|\.vault-token|\.git-credentials|\.docker(?:cfg|configjson)"
    r"|(?:.*\.)?kubeconfig(?:\..*)?"
)
READ: Final = frozenset(  # the extensions of the languages that the server reads
    {
        ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file as it is sent: where it stands, its path in the project, hash and bytes of that."""

    source: Path
    path: str
    hash: str
    size: int
    masked: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Found:
    """The files of a folder, how many stay here and why, and what was taken out.

    `root` is what the paths begin at, `part` what all begin with where not all of it was looked at.
    """

    root: Path
    part: str = ""
    files: list[CodeFile] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is sent of a file, and a kind for each secret that was taken out."""

    data: bytes
    masked: tuple[str, ...] = ()


def find(*, folder: Path) -> Found:
    """Read the files of a folder, by path; in a repository paths begin at its root.

    Raises ClientError where git refuses to say which there are.
    """
    root = repository.root_of(folder=folder)
    found = Found(root=root, part=f"{folder.relative_to(root).as_posix()}/".removeprefix("./"))
    for path in sorted(set(repository.paths(folder=folder))):
        reason = _reason(root, path)
        content = read(source=root / path) if not reason else None
        if isinstance(content, Content):
            found.files.append(_file(root, path, content))
            found.masked.update(content.masked)
        else:
            found.left[reason or str(content)] += 1
    return found


def is_code(*, path: str) -> bool:
    """Say whether a file is in a language that the server reads, by its name."""
    return splitext(path)[1].lower() in READ


def read(*, source: Path) -> Content | str:
    """Return what is sent of a file, or why nothing is."""
    try:
        data = _bytes(source)
    except OSError:
        return "unreadable"
    if data is None:
        return "no file"
    if len(data) > LARGEST:
        return "too large"
    if b"\0" in data:
        return "no text"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _of_other_text(data)
    return _masked(text)


def _bytes(source: Path) -> bytes | None:
    """Return what a file begins with, one byte more than is taken at most; None for no file.

    It is looked at once it is open, so that nothing else can come in its place.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(source, flags | getattr(os, "O_BINARY", 0)), "rb") as file:  # noqa: PTH123
        return file.read(LARGEST + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _masked(text: str) -> Content | str:
    found = mask(text=text)
    if found.text.count("\n") != text.count("\n"):
        return "holds a private key"
    told = found.text
    for kind in set(found.kinds):  # a name reads in every language, brackets break the line
        told = told.replace(f"[redacted: {kind}]", f"redacted_{kind}")
    data = told.encode()
    return Content(data=data, masked=found.kinds) if len(data) <= LARGEST else "too large"


def _of_other_text(data: bytes) -> Content | str:
    """Return a text in another encoding, which secrets are looked for in as far as it is ASCII."""
    text = data.decode("latin-1")
    found = _masked(text)
    if isinstance(found, str):
        return found
    return Content(data=found.data.decode().encode("latin-1"), masked=found.masked)


def _file(folder: Path, path: str, content: Content) -> CodeFile:
    return CodeFile(
        source=folder / path,
        path=path,
        hash=hashlib.sha256(content.data).hexdigest(),
        size=len(content.data),
        masked=content.masked,
    )


def _reason(folder: Path, path: str) -> str:
    """Say why a file stays here; nothing where it may be sent."""
    name = path.rpartition("/")[2].lower()
    if SECRET.fullmatch(name):
        return "may hold secrets"
    if GENERATED.fullmatch(name):
        return "made by a tool"
    if not is_code(path=path):
        return "in no language that is read"
    if len(path) > LONGEST_PATH or not path.isprintable() or "\\" in path:
        return "its path is not taken"
    source = folder / path
    # What a link leads to may be anything, and so may what lies behind a link to a folder.
    is_here = source.is_file() and source.resolve() == folder.resolve() / path
    return "" if is_here else "no file"
