"""Tool calls are read as acts, whatever the harness calls its tools; outside content is seen."""

from dataclasses import replace

import pytest

from memory.observer import tools
from memory.observer.events import Arguments, Event, EventKind
from memory.observer.tools import Act, Reading


def read(name: str, **arguments: object) -> Reading:
    """Read a call of a tool."""
    given = Arguments(**arguments)  # type: ignore[arg-type]
    event = Event(sequence=1, kind=EventKind.TOOL_CALL, name=name, arguments=given)
    return tools.read(event=event, root="/work/shop", own_servers=tools.SERVERS_OF_OURS)


@pytest.mark.parametrize(
    ("name", "arguments", "act", "target"),
    [
        ("Read", {"path": "/work/shop/a/b.py"}, Act.READ, "a/b.py"),
        ("read_file", {"path": "./a//b.py"}, Act.READ, "a/b.py"),
        ("MultiEdit", {"path": "/work/shop/a/../c.py"}, Act.EDIT, "c.py"),
        ("apply_patch", {"path": "a.py"}, Act.EDIT, "a.py"),
        ("Grep", {"pattern": "def  mint"}, Act.GREP, "def mint"),
        ("Glob", {"pattern": "**/*.py"}, Act.GLOB, "**/*.py"),
        ("Bash", {"command": "cd /work/shop && pytest -q tests"}, Act.TEST, "pytest -q tests"),
        ("shell", {"command": "npm run test -- auth"}, Act.TEST, "npm run test -- auth"),
        ("Bash", {"command": "cat src/a.py"}, Act.READ, "src/a.py"),
        ("Bash", {"command": "sed -n '1,40p' src/a.py"}, Act.READ, "src/a.py"),
        ("Bash", {"command": "rg -n 'def mint' src"}, Act.GREP, "def mint"),
        ("Bash", {"command": "git commit -m x"}, Act.RUN, "git commit -m x"),
        ("mcp__cairn__add_memory", {}, Act.RECORD, "mcp__cairn__add_memory"),
        ("TodoWrite", {}, Act.OTHER, "TodoWrite"),
    ],
)
def test_a_call_is_an_act_with_a_target(
    name: str, arguments: dict[str, object], act: Act, target: str
) -> None:
    assert read(name, **arguments) == Reading(act=act, target=target)


@pytest.mark.parametrize(
    ("name", "arguments", "taint"),
    [
        ("WebFetch", {"url": "https://Docs.example.org/a"}, "web: docs.example.org"),
        ("WebSearch", {"pattern": "django sessions"}, "web: django sessions"),
        ("Bash", {"command": "curl -s https://example.org/x"}, "web: example.org"),
        ("Bash", {"command": "gh issue view 7"}, "issue or mail: gh issue"),
        ("mcp__github__get_issue", {}, "issue or mail: github"),
        ("mcp__browser__take_screenshot", {}, "foreign tool: browser"),
        ("Read", {"path": "/etc/hosts"}, "outside file: /etc/hosts"),
        ("Read", {"path": "../other/a.py"}, "outside file: ../other/a.py"),
        ("Read", {"path": "C:\\temp\\a.py"}, "outside file: C:/temp/a.py"),
    ],
)
def test_outside_content_is_seen(name: str, arguments: dict[str, object], taint: str) -> None:
    assert read(name, **arguments).taint == taint


@pytest.mark.parametrize(
    "arguments",
    [{"command": "git fetch origin"}, {"command": "ls"}, {"command": "pip install http"}],
)
def test_ordinary_commands_bring_nothing_from_outside(arguments: dict[str, object]) -> None:
    assert read("Bash", **arguments).taint == ""


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("cd x && git commit -m 'a'", "git commit"),
        ("A=1 /usr/bin/python -m pytest", "python pytest"),
        ("cd x; A=1 B= make test", "make test"),
        ("npm install left-pad", "npm install"),
        ("", ""),
    ],
)
def test_a_program_is_named_with_its_verb(command: str, program: str) -> None:
    assert tools.program(command=command) == program


def test_a_call_on_several_files_names_each_once_and_any_of_them_may_lie_outside() -> None:
    files = ("/work/shop/a.py", "/work/shop/b.py", "/etc/hosts")
    event = Event(sequence=1, kind=EventKind.TOOL_CALL, name="Read", files=files)
    given = replace(event, arguments=Arguments(path="a.py"))

    found = tools.read(event=given, root="/work/shop", own_servers=tools.SERVERS_OF_OURS)

    assert (found.target, found.also) == ("a.py", ("b.py", "/etc/hosts"))
    assert found.taint == "outside file: /etc/hosts"
