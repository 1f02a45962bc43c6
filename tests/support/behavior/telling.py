"""How a labelled session is told: by one of three harnesses, with chance that is always the same.

A label says what the writer of the episode meant, not what a signal computes: the two are compared.
"""

import random
from dataclasses import dataclass

from memory.observer.detections import SignalKind
from memory.sessions.scratchpad import SessionType
from tests.support.stories import ROOT, Story

AREAS = ("auth", "billing", "search", "mail", "export", "queue", "media", "admin", "api", "report")
PARTS = ("store", "views", "rules", "client", "codec", "plan", "token", "schema", "cache", "diff")
ENDS = ("py", "ts", "go")
NAMES = {  # read, edit, grep, glob, run
    "claude": ("Read", "Edit", "Grep", "Glob", "Bash"),
    "cursor": ("read_file", "edit_file", "grep_search", "file_search", "run_terminal_cmd"),
    "codex": ("shell", "apply_patch", "shell", "shell", "shell"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A session, what it was meant to show, and to which half it belongs."""

    name: str
    story: Story
    labels: frozenset[tuple[SignalKind, str]]
    is_held: bool


class Teller(Story):
    """Tells one session in the words of a harness; `seed` is the only chance there is."""

    def __init__(self, *, seed: int, harness: str, is_held: bool, planned: int = 0) -> None:
        super().__init__(type=SessionType.BUILD, planned=planned)
        self.names = dict(zip(NAMES["claude"], NAMES[harness], strict=True))
        self.chance = random.Random(seed)
        self.is_shell = harness == "codex"
        self.is_held = is_held
        self.end = self.chance.choice(ENDS)
        self.labels: set[tuple[SignalKind, str]] = set()
        self.used: set[str] = set()

    def means(self, kind: SignalKind, target: str) -> None:
        """Say what the session shows here."""
        self.labels.add((kind, target))

    def file(self, area: str = "") -> str:
        """Return a file that the session has not touched yet."""
        while True:
            folder = area or self.area()
            path = f"{folder}/{self.chance.choice(PARTS)}{self.chance.randrange(9)}.{self.end}"
            if path not in self.used:
                self.used.add(path)
                return path

    def area(self) -> str:
        """Return a folder."""
        return f"{self.chance.choice(AREAS)}/{self.chance.choice(PARTS)}"

    def pick(self, usual: tuple[str, ...], held: tuple[str, ...]) -> str:
        """Return one of some wordings; those of held sessions occur in no other."""
        return self.chance.choice(held if self.is_held else usual)

    def call(self, name: str, args: dict[str, object], **result: object) -> Story:
        """Call a tool by the name that the harness has for it; a shell does nearly all."""
        if self.is_shell and name == "Read":
            path = str(args["file_path"]).removeprefix(f"{ROOT}/")
            args = {"command": f"sed -n '1,200p' {path}"}
        elif self.is_shell and name == "Grep":
            args = {"command": f"rg -n '{args['pattern']}'"}
        elif self.is_shell and name == "Glob":
            return super().call(name, args, **result)
        return super().call(self.names.get(name, name), args, **result)

    def edit(self, path: str, old: str = "", new: str = "", **more: object) -> Story:
        """Change a file."""
        old, new = old or f"old {self.chance.random()}", new or f"new {self.chance.random()}"
        return super().edit(path, old, new, **more)

    def pause(self) -> None:
        """Look around a little, as sessions do between two things."""
        looks = (
            lambda: self.read(self.file()),
            lambda: self.run(self.chance.choice(("git status", "git diff", "git log --oneline"))),
            lambda: self.run(f"ls {self.area()}"),
        )
        for _ in range(self.chance.randrange(5, 8)):
            self.chance.choice(looks)()

    def labelled(self, *, name: str) -> Labelled:
        """End the session."""
        self.done()
        labels = frozenset(self.labels)
        return Labelled(name=name, story=self, labels=labels, is_held=self.is_held)
