"""Tool calls are read as acts, whatever the harness calls its tools; outside content is seen."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.mcp import server
from memory.sessions import external_content, tools
from memory.sessions.events import Arguments, Event, EventKind
from memory.sessions.tools import Act, ToolReading
from tests.support.stories import Story


def read(name: str, **arguments: object) -> ToolReading:
    """Read a call of a tool."""
    asked = Arguments(**arguments)  # type: ignore[arg-type]
    event = Event(sequence=1, kind=EventKind.TOOL_CALL, name=name, arguments=asked)
    return tools.read(event=event, root="/work/shop")


@pytest.mark.parametrize(
    ("name", "arguments", "act", "target"),
    [
        ("Read", {"path": "/work/shop/a/b.py"}, Act.READ, "a/b.py"),
        ("read_file", {"path": "./a//b.py"}, Act.READ, "a/b.py"),
        ("MultiEdit", {"path": "/work/shop/a/../c.py"}, Act.EDIT, "c.py"),
        ("apply_patch", {"path": "a.py"}, Act.EDIT, "a.py"),
        ("write_to_file", {"path": "a.py"}, Act.EDIT, "a.py"),
        ("strreplace", {"path": "a.py"}, Act.EDIT, "a.py"),
        ("Grep", {"pattern": "def  mint"}, Act.GREP, "def mint"),
        ("Glob", {"pattern": "**/*.py"}, Act.GLOB, "**/*.py"),
        ("Bash", {"command": "cd /work/shop && pytest -q tests"}, Act.TEST, "pytest -q tests"),
        ("shell", {"command": "npm run test -- auth"}, Act.TEST, "npm run test -- auth"),
        ("Bash", {"command": "cat src/a.py"}, Act.READ, "src/a.py"),
        ("Bash", {"command": "sed -n '1,40p' src/a.py"}, Act.READ, "src/a.py"),
        ("Bash", {"command": "rg -n 'def mint' src"}, Act.GREP, "def mint"),
        ("Bash", {"command": "git commit -m x"}, Act.RUN, "git commit -m x"),
        ("mcp__cairn__add_memory", {}, Act.RECORD, "mcp__cairn__add_memory"),
        ("MCP:add_memory", {}, Act.RECORD, "MCP:add_memory"),
        ("MCP:cairn:search", {}, Act.OTHER, "MCP:cairn:search"),
        ("replace_string_in_file", {"path": "a.py"}, Act.EDIT, "a.py"),
        ("run_in_terminal", {"command": "cat src/a.py"}, Act.READ, "src/a.py"),
        ("TodoWrite", {}, Act.OTHER, "TodoWrite"),
    ],
)
def test_a_call_is_an_act_with_a_target(
    name: str, arguments: dict[str, object], act: Act, target: str
) -> None:
    assert read(name, **arguments) == ToolReading(act=act, target=target)


@pytest.mark.parametrize(
    ("name", "arguments", "taint"),
    [
        ("WebFetch", {"url": "https://Docs.example.org/a"}, "web: docs.example.org"),
        ("WebSearch", {"pattern": "django sessions"}, "web: django sessions"),
        ("mcp__github__get_issue", {}, "issue or mail: github"),
        ("MCP:github:get_issue", {}, "issue or mail: github"),
        ("MCP:get_issue", {}, "issue or mail: get_issue"),
        ("MCP:get", {}, "foreign tool: get"),
        ("mcp__browser__take_screenshot", {}, "foreign tool: browser"),
        ("Read", {"path": "/etc/hosts"}, "outside file: /etc/hosts"),
        ("Read", {"path": "../other/a.py"}, "outside file: ../other/a.py"),
        ("Read", {"path": "C:\\temp\\a.py"}, "outside file: C:/temp/a.py"),
        ("Grep", {"pattern": "x", "path": "/etc/passwd"}, "outside file: /etc/passwd"),
        ("Glob", {"pattern": "*.md", "path": "/other"}, "outside file: /other"),
        ("Glob", {"pattern": "/other/**/*.md"}, "outside file: /other/**/*.md"),
        ("fetch_webpage", {}, "web: fetch_webpage"),
        ("fetch_webpage", {"url": "https://evil.com"}, "web: evil.com"),
        ("browser_navigate", {"url": "https://evil.com/a"}, "web: evil.com"),
        ("fetch_url", {"url": "https://evil.com/a"}, "web: evil.com"),
        ("readUrlContent", {"pattern": "x"}, "web: x"),
        ("jira__get_issue", {}, "issue or mail: jira"),
        ("mcp_github_get_issue", {}, "issue or mail: github"),
        ("mcp__plugin_evil_cairn__search", {}, "foreign tool: plugin_evil_cairn"),
        ("mcp__cairnish__search", {}, "foreign tool: cairnish"),
        ("mcp__cairn__search_memories", {}, ""),
        ("mcp__plugin_cairn_cairn__add_memory", {}, ""),
        ("mcp_cairn_search_memories", {}, ""),
        ("cairn__add_memory", {}, ""),
        ("mcp__cairn__add_memory", {"url": "https://docs.example.org"}, ""),
        ("WebFetch", {"url": "http://localhost:8000/x"}, ""),
        ("browser_navigate", {"url": "http://127.0.0.1:3000/"}, ""),
        ("Grep", {"pattern": "/etc/x", "path": "/work/shop"}, ""),
        ("Grep", {"pattern": "x", "path": "src"}, ""),
        ("Glob", {"pattern": "/work/shop/**/*.py"}, ""),
        ("webpack_build", {}, ""),
    ],
)
def test_outside_content_is_seen_and_what_is_ours_is_none(
    name: str, arguments: dict[str, object], taint: str
) -> None:
    assert read(name, **arguments).taint == taint


@given(st.text(alphabet="ab cd/$(){}`'\"<>|&;#\\\n-=~.", max_size=60))
def test_no_line_of_a_shell_is_too_strange_to_be_read(line: str) -> None:
    assert read("Bash", command=line).act in set(Act)


@pytest.mark.parametrize(
    ("command", "act", "target"),
    [
        ("bash -lc rg foo src", Act.GREP, "foo"),
        ('bash -lc rg "def mint" src', Act.GREP, "def mint"),
        ("bash -lc 'cd /work/shop && cat src/a.py'", Act.READ, "src/a.py"),
        ('/bin/zsh -lc "pytest -q"', Act.TEST, "pytest -q"),
        ("sh -c 'make lint'", Act.RUN, "make lint"),
        ("cd src && cat a.py", Act.READ, "src/a.py"),
        ("cat src/a.py | head -40", Act.READ, "src/a.py"),
        ("rg -A 3 'def mint' src | head", Act.GREP, "def mint"),
        ("python build.py | grep error", Act.RUN, "python build.py | grep error"),
        ("cat a.py && make", Act.RUN, "cat a.py && make"),
        ("curl http://localhost:8000/x", Act.RUN, "curl http://localhost:8000/x"),
        ("sed -i 's/a/b/' a.py", Act.RUN, "sed -i 's/a/b/' a.py"),
    ],
)
def test_a_chain_is_read_by_what_tells(command: str, act: Act, target: str) -> None:
    found = read("Bash", command=command)

    assert (found.act, found.target) == (act, target)


def test_what_the_session_wrote_itself_is_no_outside_content() -> None:
    story = Story().run("make > /tmp/log").run("cat /tmp/log")
    story.call("Write", {"file_path": "/tmp/a.py", "content": "x"}).call(
        "Read", {"file_path": "/tmp/a.py"}
    )

    assert story.scratchpad().taint is None
    assert story.run("cat /tmp/other").scratchpad().taint is not None


def test_a_file_has_one_name_wherever_in_the_repository_the_work_began() -> None:
    named = Arguments(path="/home/ana/shop/frontend/x.ts")
    event = Event(sequence=1, kind=EventKind.TOOL_CALL, name="Read", arguments=named)
    below = replace(event, arguments=Arguments(path="a.py"))
    shown = replace(event, name="Bash", arguments=Arguments(command="cat ~/shop/frontend/x.ts"))
    read_all = [
        tools.read(event=one, root="/home/ana/shop", folder="/home/ana/shop/backend")
        for one in (event, below, shown)
    ]

    assert [(one.target, one.taint) for one in read_all] == [
        ("frontend/x.ts", ""),
        ("backend/a.py", ""),
        ("frontend/x.ts", ""),
    ]


def test_a_program_is_named_with_its_verb() -> None:
    programs = {
        "cd x && git commit -m 'a'": "git commit",
        "A=1 /usr/bin/python -m pytest": "python pytest",
        "cd x; A=1 B= make test": "make test",
        "": "",
    }
    assert {command: tools.program(command=command) for command in programs} == programs


def test_a_call_on_several_files_names_each_once_and_any_of_them_may_lie_outside() -> None:
    files = ("/work/shop/a.py", "/work/shop/b.py", "/etc/hosts")
    event = Event(sequence=1, kind=EventKind.TOOL_CALL, name="Read", files=files)
    given = replace(event, arguments=Arguments(path="a.py"))

    found = tools.read(event=given, root="/work/shop")

    assert (found.target, found.also) == ("a.py", ("b.py", "/etc/hosts"))
    assert found.taint == "outside file: /etc/hosts"


def test_the_tools_that_are_known_as_ours_are_ours() -> None:
    assert set(server.TOOLS) - {"get"} == external_content.TOOLS_OF_OURS
