"""A small project's code, announced and sent as a client does it."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from accounts.caller import Caller
from accounts.models import Job
from graph import tasks
from graph.index.actions import Announced, Announcement, Sent, Taken, announce_files, take_files
from tests.support import work

JOB: Final = "graph.resolve"
CART: Final = "def total(lines):\n    return sum(line.price for line in lines)\n"
SHOP: Final = (
    "from shop.cart import total\n\n\nclass Shop:\n    def checkout(self, lines):\n"
    "        return total(lines)\n"
)
FILES: Final[Mapping[str, str]] = {"shop/cart.py": CART, "shop/shop.py": SHOP}


def digest(text: str) -> str:
    """Return the hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def announce(
    caller: Caller, now: datetime, files: Mapping[str, str] = FILES, *, ref: str = "shop"
) -> Announcement:
    """Send a manifest of files."""
    listed = tuple(
        Announced(path=path, hash=digest(text), size=len(text.encode()))
        for path, text in files.items()
    )
    return announce_files(caller=caller, ref=ref, files=listed, now=now)


def send(
    caller: Caller,
    now: datetime,
    told: Announcement,
    files: Mapping[str, str] = FILES,
    *,
    ref: str = "shop",
) -> Taken:
    """Send the files that are missing."""
    sent = tuple(
        Sent(path=path, hash=digest(files[path]), content=files[path].encode())
        for path in told.missing
    )
    return take_files(caller=caller, ref=ref, run=told.run, files=sent, now=now)


def index(
    caller: Caller, now: datetime, files: Mapping[str, str] = FILES, *, ref: str = "shop"
) -> Announcement:
    """Send a manifest, what is missing, and do the work on edges."""
    told = announce(caller, now, files, ref=ref)
    if told.missing:
        send(caller, now, told, files, ref=ref)
    resolve()
    return told


def resolve() -> None:
    """Do the work on edges that waits."""
    for job in Job.objects.filter(name=JOB, state="queued").order_by("created_at", "id"):
        tasks.resolve(work.taken(job.id))
        Job.objects.filter(pk=job.id).update(state="done")
