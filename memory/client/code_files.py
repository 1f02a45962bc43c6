"""The files of a project's code on this machine: which there are, what of them is sent.

In a repository git lists them, without ignored ones. Without git, and where there is no repository,
the folder is walked; where git refuses, nothing is listed, because it alone knows what is ignored.
What is in no language that the server reads, no text, too large, generated, or made to hold secrets
stays here. Of the others, secrets are masked before anything is hashed or sent; a file with a
private key in it stays here whole, because its lines would move.
"""

import hashlib
import os
import re
import stat
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import splitext
from typing import Final

from .errors import ClientError
from .masking import mask

LARGEST: Final = 1_048_576  # bytes of a file; the server takes no more
LONGEST_PATH: Final = 400  # characters; the server takes no more
GENERATED: Final = re.compile(
    r".*\.min\.(?:js|css)|.*\.map|.*-lock\.(?:json|ya?ml)|.*\.lock|go\.sum|.*\.lockb"
)
SECRET: Final = re.compile(  # files made to hold secrets, by their names; the server uses it too
    r"\.env(?:\.(?!example|sample|template|dist).*)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\..*)?|\.(?:netrc|pgpass|htpasswd|npmrc|pypirc)"
    r"|credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml))?|.*\.tfstate(?:\..*)?"
    r"|.*\.tfvars(?:\.json)?|\.vault-token|\.git-credentials|\.docker(?:cfg|configjson)"
    r"|(?:.*\.)?kubeconfig(?:\..*)?"
    r"|.+\.env|\.envrc|\.yarnrc(?:\.ya?ml)?|pip\.conf|secrets?\.(?:json|ya?ml|toml|ini|cfg|conf)"
)
READ: Final = frozenset({  # the extensions of the languages that the server reads
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs",
})  # fmt: skip

GIT_SECONDS: Final = 60
SKIPPED_FOLDERS: Final = frozenset({
    "node_modules", "bower_components", "vendor", "venv", "env", "__pycache__", "site-packages",
    "dist", "build", "target", "out", "coverage", "htmlcov",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file as it is sent: its source, its path in the project, hash and bytes of that."""

    source: Path
    path: str
    hash: str
    size: int
    masked: tuple[str, ...] = ()

    @property
    def listed(self) -> dict[str, object]:
        """The file as a manifest lists it."""
        return {"path": self.path, "hash": self.hash, "size": self.size}


@dataclass(slots=True, kw_only=True)
class CodeFiles:
    """The files of a folder, how many stay here and why, and what was taken out."""

    root: Path  # at which paths begin
    part: str = ""  # with which all begin where not all was looked at
    files: list[CodeFile] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the files."""
        return frozenset(file.path for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedContent:
    """What is sent of a file, and a kind for each secret that was taken out."""

    data: bytes
    masked: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """The hash by which the server recognizes the content."""
        return hashlib.sha256(self.data).hexdigest()


def find(*, folder: Path) -> CodeFiles:
    """Read the files of a folder, by path; in a repository paths begin at its root.

    Raises ClientError where git refuses to say which there are.
    """
    root = root_of(folder=folder)
    found = CodeFiles(root=root, part=f"{folder.relative_to(root).as_posix()}/".removeprefix("./"))
    for path in sorted(set(_paths(folder))):
        source = root / path
        content = _reason(root, path) or read(source=source)
        if isinstance(content, str):
            found.left[content] += 1
            continue
        size, masked = len(content.data), content.masked
        found.files.append(
            CodeFile(source=source, path=path, hash=content.hash, size=size, masked=masked)
        )
        found.masked.update(masked)
    return found


def root_of(*, folder: Path) -> Path:
    """Return the folder of the repository that a folder is in; itself where it is in none.

    Raises ClientError where git refuses.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    return folder if top is None else Path(os.fsdecode(top.removesuffix(b"\n")))


def is_code(path: str) -> bool:
    """Say whether a file is in a language that the server reads, by its name."""
    return splitext(path)[1].lower() in READ


def read(*, source: Path) -> MaskedContent | str:
    """Return what is sent of a file, or why nothing is.

    It is looked at once it is open, so that nothing else can come in its place. In a text of
    another encoding secrets are looked for as far as it is ASCII.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(source, flags | getattr(os, "O_BINARY", 0)), "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return "no file"
            data = file.read(LARGEST + 1)
    except OSError:
        return "unreadable"
    if len(data) > LARGEST:
        return "too large"
    if b"\0" in data:
        return "no text"
    encoding = "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = data.decode(encoding)
    found = mask(text=text)
    if found.text.count("\n") != text.count("\n"):
        return "holds a private key"
    masked = found.text
    for kind in set(found.kinds):  # a name reads in every language, brackets break the line
        masked = masked.replace(f"[redacted: {kind}]", f"redacted_{kind}")
    data = masked.encode(encoding)
    return MaskedContent(data=data, masked=found.kinds) if len(data) <= LARGEST else "too large"


def _reason(folder: Path, path: str) -> str:
    """Say why a file stays here; nothing where it may be sent."""
    name = path.rpartition("/")[2].lower()
    if SECRET.fullmatch(name):
        return "may hold secrets"
    if GENERATED.fullmatch(name):
        return "made by a tool"
    if not is_code(path):
        return "in no language that is read"
    if len(path) > LONGEST_PATH or not path.isprintable() or "\\" in path:
        return "its path is not taken"
    source = folder / path
    # What a link leads to may be anything, and so may what lies behind a link to a folder.
    is_here = source.is_file() and source.resolve() == folder.resolve() / path
    return "" if is_here else "no file"


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths of a folder's files, with slashes, from the folder of its repository on.

    Raises ClientError where git refuses.
    """
    listed = _git(folder, "ls-files", "-coz", "--exclude-standard", "--full-name")
    if listed is None:
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(
                one for one in folders if one not in SKIPPED_FOLDERS and not one.startswith(".")
            )
            for name in names:
                yield (Path(place) / name).relative_to(folder).as_posix()
        return
    for one in listed.split(b"\0"):
        if one:
            yield os.fsdecode(one)


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return the output of git; None where there is no git, or no repository around the folder."""
    here = folder.resolve()
    if not any(os.path.lexists(one / ".git") for one in (here, *here.parents)):
        return None
    try:
        done = subprocess.run(  # noqa: S603  no shell, and fixed arguments
            ("git", "-C", os.fspath(folder), *arguments),  # noqa: S607  the one that is installed
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired as error:
        raise ClientError(
            detail=f"git did not answer within {GIT_SECONDS} s.", command="cairn index --help"
        ) from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").split("\n")
        reason = next((line.strip() for line in lines if line.strip()), "it ended without a word")
        raise ClientError(
            detail=f"git does not say which files are ignored, so nothing was read: {reason}",
            hint="Mend what git says of this folder, then index it again.",
            command=f"git -C {folder} status",
        )
    return done.stdout
