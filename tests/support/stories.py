"""Stories: sessions of agents written as they happen, told as the JSON rows that are sent.

Each call adds a tool call and its result; a step ends by itself after every call. The rows are what
a client would post, so whatever reads them is tested from the rim on.
"""

from collections.abc import Iterable

from memory.observer import detect
from memory.observer.detections import SignalKind
from memory.sessions import event_parsing, reducers
from memory.sessions.events import Event
from memory.sessions.scratchpad import Scratchpad, SessionType, Setting

ROOT = "/work/shop"
BEGAN = 1_760_000_000.0


def keys(kind: SignalKind, story: "Story") -> list[str]:
    """Return the keys of where a signal is seen in a story, in alphabetical order."""
    return sorted(one.key for one in detect.find(kind=kind, scratchpad=story.scratchpad()))


def without_clocks(story: "Story") -> "Story":
    """Take the moments from what was told."""
    for row in story.rows:
        row.pop("at", None)
    return story


def read_events(rows: Iterable[object]) -> tuple[Event, ...]:
    """Read rows as events; what is none is left out."""
    read = (event_parsing.read(row=row) for row in rows)
    return tuple(one for one in read if isinstance(one, Event))


class Story:
    """One session as it happens; `rows` are its events so far."""

    def __init__(
        self, *, type: SessionType = SessionType.BUILD, planned: int = 0, root: str = ROOT
    ) -> None:
        self.setting = Setting(type=type, root=root, planned_steps=planned)
        self.rows: list[dict[str, object]] = []
        self.step = 1
        self.at = BEGAN
        self.agent = ""

    def event(self, kind: str, **fields: object) -> "Story":
        """Add one event two seconds after the last."""
        self.at += 2
        row = {"sequence": len(self.rows) + 1, "kind": kind, "step": self.step, "at": self.at}
        self.rows.append({**row, "agent": self.agent, **fields})
        return self

    def call(self, name: str, args: dict[str, object], **result: object) -> "Story":
        """Add a call, its result and the end of its step; `tokens` and `takes` are the step's."""
        tokens = result.pop("tokens", 1_000)
        self.event("tool_call", name=name, args=args)
        self.at += float(str(result.pop("takes", 1)))
        self.event("tool_result", name=name, **{"text": "", **result})
        return self.ends(tokens=tokens)

    def ends(self, *, tokens: object = 1_000) -> "Story":
        """End the step."""
        self.event("step_complete", tokens=tokens)
        self.step += 1
        return self

    def read(self, path: str, text: str = "…", **more: object) -> "Story":
        """Read a file."""
        return self.call("Read", {"file_path": f"{ROOT}/{path}"}, text=text, **more)

    def edit(self, path: str, old: str = "", new: str = "", **more: object) -> "Story":
        """Change a file."""
        args = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
        return self.call("Edit", args, **more)

    def grep(self, pattern: str, text: str = "", **more: object) -> "Story":
        """Search texts."""
        return self.call("Grep", {"pattern": pattern}, text=text, **more)

    def glob(self, pattern: str, *found: str) -> "Story":
        """Search paths."""
        return self.call("Glob", {"pattern": pattern}, text="\n".join(found))

    def run(self, command: str, text: str = "", **more: object) -> "Story":
        """Run a command."""
        return self.call("Bash", {"command": command}, text=text, **more)

    def fails(self, command: str, text: str, **more: object) -> "Story":
        """Run a command that fails."""
        return self.run(command, text, is_error=True, **more)

    def fetch(self, url: str) -> "Story":
        """Read a page of the web."""
        return self.call("WebFetch", {"url": url}, text="a page")

    def say(self, text: str) -> "Story":
        """Think aloud."""
        return self.event("reasoning", text=text)

    def prompt(self, text: str) -> "Story":
        """Let the person say something."""
        return self.event("prompt", text=text)

    def by(self, agent: str) -> "Story":
        """Let another agent of the session go on."""
        self.agent = agent
        return self

    def counting(self, step: int) -> "Story":
        """Go on at another step, as agents do that count steps of their own."""
        self.step = step
        return self

    def done(self, outcome: str = "success") -> "Story":
        """End the session."""
        return self.event("session_complete", outcome=outcome, steps=self.step - 1)

    def scratchpad(self) -> Scratchpad:
        """Read and fold what happened."""
        return reducers.rebuild(setting=self.setting, events=read_events(self.rows))
