"""What is put into files of other programs comes out again and leaves no trace."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.client.install.file_edits import (
    FileEdit,
    JsonKey,
    ListEntries,
    MarkedBlock,
    NotEditable,
    WholeFile,
    diff,
)

KEY = JsonKey(outer="mcpServers", name="cairn", value={"url": "http://127.0.0.1:8000/mcp"})
TABLE = MarkedBlock(
    begin="# cairn: begin",
    end="# cairn: end",
    body="[mcp_servers.cairn]\nurl = 1",
    table=("mcp_servers", "cairn"),
)
BLOCK = MarkedBlock(begin="# cairn: begin", end="# cairn: end", body="[mcp_servers.cairn]\nurl = 1")
LINES = st.lists(st.text(alphabet="ab# \t=[]é", max_size=12), max_size=6).map("\n".join)
OBJECTS = st.dictionaries(
    st.sampled_from(("theme", "mcpServers", "hooks")),
    st.dictionaries(st.sampled_from(("other", "é", "x")), st.integers(), min_size=1, max_size=2),
    max_size=3,
)


@given(text=LINES)
def test_block_that_is_put_twice_is_there_once_and_leaves_as_it_came(text: str) -> None:
    once = BLOCK.put(text=text)

    assert BLOCK.put(text=once) == once
    assert once.count(BLOCK.begin) == 1
    assert BLOCK.take(text=once).rstrip("\n") == text.rstrip("\n")


@given(whole=OBJECTS, indent=st.sampled_from((2, 4, "\t")))
def test_key_that_is_put_twice_is_there_once_and_leaves_as_it_came(
    whole: dict[str, dict[str, int]], indent: int | str
) -> None:
    text = json.dumps(whole, indent=indent, ensure_ascii=False) + "\n" if whole else ""

    once = KEY.put(text=text)

    assert KEY.put(text=once) == once
    assert json.loads(once)["mcpServers"]["cairn"] == KEY.value
    assert KEY.take(text=once) == text


def test_block_is_put_anew_in_its_old_place() -> None:
    text = f"first\n{BLOCK.put(text='')}last\n"
    other = MarkedBlock(begin=BLOCK.begin, end=BLOCK.end, body="other")

    assert other.put(text=text) == "first\n# cairn: begin\nother\n# cairn: end\nlast\n"


def test_half_of_a_pair_that_only_json_can_name_stays() -> None:
    once = KEY.put(text='{"history": "\\ud83d"}')

    assert json.loads(once.encode())["history"] == "\ud83d"
    assert json.loads(KEY.take(text=once).encode()) == {"history": "\ud83d"}


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.cairn]\nurl = "http://127.0.0.1:8000/mcp"\n',
        '[mcp_servers]\ncairn.url = "http://127.0.0.1:8000/mcp"\n',
        'mcp_servers = {other = {url = "http://127.0.0.1:9/mcp"}}\n',
        "model = gpt\n",
    ],
)
def test_toml_that_has_no_room_for_the_table_is_left_alone(text: str) -> None:
    with pytest.raises(NotEditable) as refused:
        TABLE.put(text=text)

    assert refused.value.hint


def test_toml_table_between_the_marks_is_put_anew() -> None:
    once = TABLE.put(text='[mcp_servers.other]\nurl = "x"\n')

    assert TABLE.put(text=once) == once


def test_diff_shows_what_changes_and_no_token() -> None:
    secret = "ghp_" + "a1B2" * 9
    after = json.dumps({"headers": {"Authorization": f"Bearer {secret}"}}, indent=1)

    shown = diff(before="", after=after, name=".mcp.json")

    assert "+" in shown
    assert secret not in shown


HOOKS = ListEntries(
    name="hooks",
    lists={
        "Stop": ({"command": "sh cairn/hook.sh"},),
        "SessionEnd": ({"command": "cairn/hook.sh"},),
    },
    mark="cairn/hook.sh",
    head={},
)
ENTRY = st.builds(lambda text: {"command": text}, st.sampled_from(("other", "é x", "")))
LISTS = st.dictionaries(
    st.sampled_from(("Stop", "PreToolUse", "x")),
    st.lists(ENTRY, min_size=1, max_size=3),
    max_size=3,
)


@given(lists=LISTS, has_hooks=st.booleans(), theme=st.booleans())
def test_entries_put_twice_are_there_once_behind_those_of_others_and_leave_as_they_came(
    lists: dict[str, list[dict[str, str]]], has_hooks: bool, theme: bool
) -> None:
    whole = {**({"theme": "dark"} if theme else {}), **({"hooks": lists} if has_hooks else {})}
    text = json.dumps(whole, indent=2, ensure_ascii=False) if whole else ""

    once = HOOKS.put(text=text)

    assert HOOKS.put(text=once) == once
    told = json.loads(once)
    others = lists.get("Stop", []) if has_hooks else []
    assert told["hooks"]["Stop"] == [*others, {"command": "sh cairn/hook.sh"}]
    left = json.loads(HOOKS.take(text=once) or "{}")
    assert left == {name: value for name, value in whole.items() if value or name != "hooks"}


OURS = {"command": "sh cairn/hook.sh"}
GROUPS = ListEntries(
    name="hooks", lists={"Stop": ({"hooks": [OURS]},)}, mark="cairn/hook.sh", head={}
)
OLDER = {"command": "cairn/hook.sh of before"}
HOOK = st.one_of(ENTRY, st.sampled_from((OURS, OLDER)))
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(HOOK, min_size=1, max_size=4)}, optional={"matcher": st.just("Bash")}
)


def _theirs(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups with the hooks of others alone, in their order."""
    kept = (
        {**one, "hooks": [hook for hook in one["hooks"] if "cairn" not in hook["command"]]}
        for one in groups
    )
    return [one for one in kept if one["hooks"]]


@given(groups=st.lists(GROUP, min_size=1, max_size=4))
def test_hooks_of_others_in_a_group_of_ours_outlive_every_edit(
    groups: list[dict[str, Any]],
) -> None:
    text = json.dumps({"hooks": {"Stop": groups}})

    once = GROUPS.put(text=text)
    left = json.loads(GROUPS.take(text=once) or "{}")

    assert GROUPS.put(text=once) == once
    told = json.loads(once)["hooks"]["Stop"]
    assert _theirs(told) == _theirs(groups)
    assert json.dumps(told).count("cairn/hook.sh") == 1
    assert left.get("hooks", {}).get("Stop", []) == _theirs(groups)


def test_entries_of_an_older_version_are_replaced() -> None:
    older = (
        '{"hooks": {"Stop": [{"command": "cairn/hook.sh old"}], "Gone": [{"x": "cairn/hook.sh"}]}}'
    )

    told = json.loads(HOOKS.put(text=older))

    assert told["hooks"] == {name: list(entries) for name, entries in HOOKS.lists.items()}


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        *((KEY, text) for text in ("[1]", "{'a': 1}", "// why\n{}", '{"mcpServers": 3}')),
        *((HOOKS, text) for text in ("[1]", '{"hooks": 3}', '{"hooks": {"Stop": 3}}')),
        (WholeFile(content="# ours\n", mark="# ours"), "theirs"),
    ],
)
def test_file_that_is_not_what_its_name_says_is_left_alone(edit: FileEdit, text: str) -> None:
    with pytest.raises(NotEditable):
        edit.put(text=text)


def test_head_of_a_file_goes_with_the_last_entry() -> None:
    hooks = ListEntries(name="hooks", lists=HOOKS.lists, mark=HOOKS.mark, head={"version": 1})

    once = hooks.put(text="")

    assert json.loads(once)["version"] == 1
    assert hooks.take(text=once) == ""
    assert json.loads(hooks.take(text=hooks.put(text='{"version": 1, "x": 2}'))) == {
        "version": 1,
        "x": 2,
    }


def test_file_of_our_own_takes_no_place_of_another() -> None:
    own = WholeFile(content="# ours\nnew\n", mark="# ours")

    assert own.put(text="") == own.put(text="# ours\nold\n") == own.content
    assert own.take(text=own.content) == ""
    assert own.take(text="theirs") == "theirs"
