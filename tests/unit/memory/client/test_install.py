"""What the client puts into files of other programs, and that it stands alone."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.client.install import (
    FileEdit,
    JsonKey,
    ListEntries,
    MarkedBlock,
    NotEditable,
    PlannedEdit,
    WholeFile,
)

KEY = JsonKey(outer="mcpServers", name="cairn", value={"url": "http://127.0.0.1:8000/mcp"})
MARKS = {"begin": "# cairn: begin", "end": "# cairn: end"}
BODY = "[mcp_servers.cairn]\nurl = 1"
BLOCK = MarkedBlock(**MARKS, body=BODY)
TABLE = MarkedBlock(**MARKS, body=BODY, table=("mcp_servers", "cairn"))
OURS = {"command": "sh cairn/hook.sh"}
GROUPS = ListEntries(
    name="hooks", lists={"Stop": ({"hooks": [OURS]},)}, mark="cairn/hook.sh", head={}
)
FLAT = ListEntries(
    name="hooks", lists={"Stop": (OURS,), "End": (OURS,)}, mark="cairn/hook.sh", head={"version": 1}
)
OWN = WholeFile(content="# ours\nnew\n", mark="# ours")

LINES = st.lists(st.text(alphabet="ab# \t=[]é", max_size=12), max_size=6).map("\n".join)
OBJECTS = st.dictionaries(
    st.sampled_from(("theme", "mcpServers", "hooks")),
    st.dictionaries(st.sampled_from(("other", "é", "x")), st.integers(), min_size=1, max_size=2),
    max_size=3,
)
HOOK = st.sampled_from((
    OURS, {"command": "cairn/hook.sh of before"}, {"command": "other"}, {"command": "é"},
))  # fmt: skip
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(HOOK, min_size=1, max_size=4)}, optional={"matcher": st.just("Bash")}
)


@given(text=LINES)
def test_block_that_is_put_twice_is_there_once_and_leaves_as_it_came(text: str) -> None:
    once = BLOCK.put(text=text)

    assert BLOCK.put(text=once) == once
    assert once.count(BLOCK.begin) == 1
    assert BLOCK.take(text=once).rstrip("\n") == text.rstrip("\n")


@given(whole=OBJECTS, indent=st.sampled_from((2, 4, "\t")))
def test_key_put_twice_is_there_once(whole: dict[str, dict[str, int]], indent: int | str) -> None:
    text = json.dumps(whole, indent=indent, ensure_ascii=False) + "\n" if whole else ""

    once = KEY.put(text=text)

    assert KEY.put(text=once) == once
    assert json.loads(once)["mcpServers"]["cairn"] == KEY.value
    assert KEY.take(text=once) == text


def _theirs(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries and groups with the hooks of others alone, in their order."""
    kept: list[dict[str, Any]] = []
    for one in entries:
        others = [hook for hook in one.get("hooks", [one]) if "cairn" not in hook["command"]]
        kept += [{**one, "hooks": others} if "hooks" in one else one] if others else []
    return kept


@given(
    edit=st.sampled_from((FLAT, GROUPS)),
    entries=st.lists(st.one_of(GROUP, HOOK), min_size=1, max_size=4),
)
def test_hooks_of_others_outlive_ours(edit: ListEntries, entries: list[dict[str, Any]]) -> None:
    text = json.dumps({"theme": "dark", "hooks": {"Stop": entries, "Other": [{"command": "x"}]}})

    once = edit.put(text=text)
    left = json.loads(edit.take(text=once))

    assert edit.put(text=once) == once
    told = json.loads(once)["hooks"]
    assert _theirs(told["Stop"]) == _theirs(entries)
    assert json.dumps(told["Stop"]).count("cairn/hook.sh") == 1
    assert left["hooks"].get("Stop", []) == _theirs(entries)
    assert (left["theme"], left["hooks"]["Other"]) == ("dark", [{"command": "x"}])


def test_block_is_put_anew_in_its_old_place() -> None:
    text = f"first\n{BLOCK.put(text='')}last\n"

    other = MarkedBlock(**MARKS, body="other").put(text=text)

    assert other == "first\n# cairn: begin\nother\n# cairn: end\nlast\n"
    once = TABLE.put(text='[mcp_servers.other]\nurl = "x"\n')
    assert TABLE.put(text=once) == once


def test_half_of_a_pair_that_only_json_can_name_stays() -> None:
    once = KEY.put(text='{"history": "\\ud83d"}')

    assert json.loads(once.encode())["history"] == "\ud83d"
    assert json.loads(KEY.take(text=once).encode()) == {"history": "\ud83d"}


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        *((KEY, text) for text in ("[1]", "// why\n{}", '{"mcpServers": 3}')),
        *((FLAT, text) for text in ("[1]", '{"hooks": 3}', '{"hooks": {"Stop": 3}}')),
        *((TABLE, text) for text in (f"{BODY}\n", "mcp_servers = {other = {}}\n", "model = gpt\n")),
        (OWN, "theirs"),
    ],
)
def test_file_that_has_no_room_for_what_is_put_is_left_alone(edit: FileEdit, text: str) -> None:
    with pytest.raises(NotEditable):
        edit.put(text=text)


def test_what_is_ours_goes_with_the_last_entry_and_what_is_of_others_stays() -> None:
    once = FLAT.put(text='{"hooks": {"Gone": [{"x": "cairn/hook.sh"}]}}')

    told = json.loads(once)
    assert (told["version"], told["hooks"]) == (1, {"Stop": [OURS], "End": [OURS]})
    assert FLAT.take(text=once) == ""
    other = {"version": 1, "x": 2}
    assert json.loads(FLAT.take(text=FLAT.put(text=json.dumps(other)))) == other
    assert OWN.put(text="") == OWN.put(text="# ours\nold\n") == OWN.content
    assert (OWN.take(text=OWN.content), OWN.take(text="theirs")) == ("", "theirs")


def test_diff_shows_what_changes_and_no_token() -> None:
    secret = "ghp_" + "a1B2" * 9
    after = json.dumps({"headers": {"Authorization": f"Bearer {secret}"}}, indent=1)

    shown = PlannedEdit(harness="x", path=Path(".mcp.json"), before=None, after=after).diff

    assert "+" in shown
    assert secret not in shown


ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "deploy" / "client"
LOADED = (
    "import sys; sys.path.insert(0, sys.argv[1]); from cairn_client import cli; "
    "code = cli.main(sys.argv[2:]); print(code, *(sorted(sys.modules)))"
)


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder with the package as it is installed, away from everything else of ours."""
    shutil.copytree(ROOT / "memory" / "client", tmp_path / "cairn_client")
    shutil.copytree(ROOT / "deploy" / "plugin", tmp_path / "cairn_client" / "plugin")
    return tmp_path


def _loaded(alone: Path, *arguments: str) -> tuple[str, set[str]]:
    """Run a command; return its exit code, and the packages that it loaded."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOADED, str(alone), *arguments], cwd=alone,
        env={"HOME": str(alone), "NO_COLOR": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, *modules = done.stdout.splitlines()[-1].split()
    return code, {name.partition(".")[0] for name in modules}


def test_a_command_loads_nothing_else_of_ours_and_no_more_than_it_needs(alone: Path) -> None:
    help_code, at_help = _loaded(alone, "--help")
    code, modules = _loaded(alone, "--url", "http://127.0.0.1:9", "--token", "x", "--json", "stats")

    assert (help_code, code) == ("0", "1")
    assert not {"httpx", "rich", "django", "memory"} & at_help
    assert "httpx" in modules
    assert not {"django", "memory", "accounts", "teams"} & modules


def test_hooks_are_found_in_what_is_installed(alone: Path) -> None:
    (alone / ".cursor").mkdir()
    named = ("--url", "http://127.0.0.1:9", "--token", "x")

    code, _ = _loaded(alone, *named, "init", "--yes", "--harness", "cursor")

    assert code == "0"
    assert (alone / ".cairn/plugin/bin/hook.sh").read_bytes() == (
        ROOT / "deploy/plugin/bin/hook.sh"
    ).read_bytes()


def test_distribution_holds_the_package_and_names_its_libraries() -> None:
    told = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))

    included = told["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {(FOLDER / path).resolve(): place for path, place in included.items()} == {
        ROOT / "memory" / "client": "cairn_client",
        ROOT / "deploy" / "plugin": "cairn_client/plugin",
    }
    assert told["project"]["scripts"] == {"cairn": "cairn_client.cli:run"}
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = {line.partition("==")[0] for line in pinned["project"]["dependencies"]}
    assert {line.partition(">=")[0] for line in told["project"]["dependencies"]} <= pins
