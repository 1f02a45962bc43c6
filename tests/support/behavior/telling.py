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


class Teller:
    """Tells one session; `seed` is the only chance there is."""

    def __init__(self, *, seed: int, harness: str, is_held: bool, planned: int = 0) -> None:
        self.story = Story(type=SessionType.BUILD, planned=planned)
        self.chance = random.Random(seed)
        self.read_name, self.edit_name, self.grep_name, self.glob_name, self.run_name = NAMES[
            harness
        ]
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
            folder = area or f"{self.chance.choice(AREAS)}/{self.chance.choice(PARTS)}"
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

    def read(self, path: str, text: str = "…", **more: object) -> "Teller":
        """Read a file."""
        if self.is_shell:
            return self.run(f"sed -n '1,200p' {path}", text, **more)
        self.story.call(self.read_name, {"file_path": f"{ROOT}/{path}"}, text=text, **more)
        return self

    def edit(self, path: str, old: str = "", new: str = "", **more: object) -> "Teller":
        """Change a file."""
        old, new = old or f"old {self.chance.random()}", new or f"new {self.chance.random()}"
        args = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
        self.story.call(self.edit_name, args, **more)
        return self

    def grep(self, pattern: str, text: str = "") -> "Teller":
        """Search texts."""
        if self.is_shell:
            return self.run(f"rg -n '{pattern}'", text)
        self.story.call(self.grep_name, {"pattern": pattern}, text=text)
        return self

    def glob(self, pattern: str, *found: str) -> "Teller":
        """Search paths."""
        name = "Glob" if self.is_shell else self.glob_name
        self.story.call(name, {"pattern": pattern}, text="\n".join(found))
        return self

    def run(self, command: str, text: str = "", **more: object) -> "Teller":
        """Run a command."""
        self.story.call(self.run_name, {"command": command}, text=text, **more)
        return self

    def fails(self, command: str, text: str, **more: object) -> "Teller":
        """Run a command that fails."""
        return self.run(command, text, is_error=True, **more)

    def say(self, text: str) -> "Teller":
        """Think aloud."""
        self.story.say(text)
        return self

    def pause(self) -> None:
        """Look around a little, as sessions do between two things."""
        for _ in range(self.chance.randrange(5, 8)):
            self.chance.choice((self._look, self._status, self._list))()

    def _look(self) -> None:
        self.read(self.file())

    def _status(self) -> None:
        self.run(self.chance.choice(("git status", "git diff", "git log --oneline")))

    def _list(self) -> None:
        self.run(f"ls {self.area()}")

    def labelled(self, *, name: str) -> Labelled:
        """End the session."""
        self.story.done()
        labels = frozenset(self.labels)
        return Labelled(name=name, story=self.story, labels=labels, is_held=self.is_held)
