"""A tree of rules files as large code bases have them, the same every time it is made."""

from random import Random
from typing import Final

AREAS: Final = (
    "billing",
    "carts",
    "search",
    "auth",
    "mail",
    "ledger",
    "stock",
    "reports",
    "gateway",
)
PARTS: Final = ("parser", "worker", "cache", "queue", "schema", "client", "view", "job", "token")
WHEN: Final = ("on Fridays", "under load", "in staging", "after a restart", "behind the proxy")
SAID: Final = (
    "Never call `{part}.{verb}()` {when} because {area} keeps its lock for {n} seconds.",
    "We chose {word} for {area} instead of {other} since {n} clients depend on it.",
    "`{area}/{part}.py` holds the {part} of {area}; change {area}/{other}.py together with it.",
    "If you see `{error}` in {area}, the {part} has run out of {n} slots; raise `{key}` first.",
    "Run `make {area}-{part}` {when}; it takes about {n} minutes.",
    "The {part} of {area} must answer within {n} ms {when}.",
    "Prefer {word} over {other} in {area} tests, at most {n} a file.",
)
WORDS: Final = ("advisory locks", "retries", "snapshots", "batches", "streams", "idempotency keys")
VERBS: Final = ("flush", "merge", "reload", "drain", "rotate", "close")
ERRORS: Final = ("PoolTimeout", "LockedError", "StaleRead", "QuotaError")
FRENCH: Final = "Le module {area} ne doit jamais attendre plus de {n} secondes {part}."


def files(*, size: int, seed: int = 7) -> tuple[tuple[str, bytes], ...]:
    """Return files of together at least `size` bytes."""
    random = Random(seed)
    made: list[tuple[str, bytes]] = []
    while sum(len(data) for _, data in made) < size:
        area = AREAS[len(made) % len(AREAS)]
        name = ("CLAUDE.md", "AGENTS.md", "docs/adr.md", ".cursorrules")[len(made) % 4]
        made.append((f"{area}-{len(made)}/{name}", _file(random, area, len(made)).encode()))
    return tuple(made)


def _file(random: Random, area: str, number: int) -> str:
    parts = [f"# {area.title()} {number}\n"]
    for section in range(12):
        parts.append(f"\n## {random.choice(PARTS).title()} {section}\n\n")
        parts.extend(f"- {_said(random, area)}\n" for _ in range(random.randint(6, 14)))
        if section % 4 == 0:
            parts.append(f"\n```sh\nmake {area}-{section}\n```\n")
    return "".join(parts)


def _said(random: Random, area: str) -> str:
    template = random.choice((*SAID, FRENCH)) if random.random() < 0.1 else random.choice(SAID)
    return template.format(
        area=area, part=random.choice(PARTS), other=random.choice(PARTS), n=random.randint(2, 999),
        when=random.choice(WHEN), word=random.choice(WORDS), verb=random.choice(VERBS),
        error=random.choice(ERRORS), key=f"{area.upper()}_SLOTS",
    )  # fmt: skip
