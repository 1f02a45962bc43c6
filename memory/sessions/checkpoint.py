"""A scratchpad as bytes and back, at the borders of units of work.

A checkpoint spares reading events again; it is never the truth. One of another version, or one that
cannot be read, raises, and the caller rebuilds from the events.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from memory.sessions.events import Arguments, Event, EventKind, Outcome
from memory.sessions.scratchpad import (
    Commit,
    Deed,
    FileUse,
    Recorded,
    Report,
    Scratchpad,
    SessionType,
    Setting,
    StepCost,
    Taint,
)
from memory.sessions.self_reports import Remark, RemarkKind
from memory.sessions.tools import Act

VERSION: Final = 2  # 1 knew steps without their agents
BYTES_MOST: Final = 50 * 1024 * 1024


def dump(*, scratchpad: Scratchpad) -> bytes:
    """Write a scratchpad; the same one always gives the same bytes."""
    return orjson.dumps(
        {"version": VERSION, "scratchpad": scratchpad},
        default=sorted,  # a set of names
        option=orjson.OPT_NON_STR_KEYS,
    )


def load(*, data: bytes) -> Scratchpad:
    """Read a scratchpad; raise ValueError for what `dump` of this version did not write."""
    try:
        row = orjson.loads(data)
        if row["version"] != VERSION:
            raise ValueError(f"a checkpoint of version {row['version']}, not {VERSION}")
        return _scratchpad(row["scratchpad"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a checkpoint") from error


def _scratchpad(row: dict[str, Any]) -> Scratchpad:
    made: dict[str, Any] = {
        "setting": _setting(row.pop("setting")),
        "gaps": tuple((first, last) for first, last in row.pop("gaps")),
        "pending": {int(key): _event(value) for key, value in row.pop("pending").items()},
        "deeds": {int(key): _deed(value) for key, value in row.pop("deeds").items()},
        "files": {path: FileUse(**use) for path, use in row.pop("files").items()},
        "steps": {key: StepCost(**cost) for key, cost in row.pop("steps").items()},
        "outcome": _optional(Outcome, row.pop("outcome")),
        "taint": _optional(lambda taint: Taint(**taint), row.pop("taint")),
        "written": frozenset(row.pop("written", ())),
        "remarks": tuple(_remark(each) for each in row.pop("remarks")),
        "recorded": tuple(Recorded(**each) for each in row.pop("recorded")),
        "commits": tuple(_with_files(Commit, each) for each in row.pop("commits")),
        "reports": tuple(_report(each) for each in row.pop("reports")),
    }
    return Scratchpad(**made, **row)


def _setting(row: Mapping[str, Any]) -> Setting:
    return Setting(
        type=SessionType(row["type"]),
        root=row["root"],
        folder=row.get("folder", ""),
        planned_steps=row["planned_steps"],
        own_servers=frozenset(row["own_servers"]),
    )


def _event(row: dict[str, Any]) -> Event:
    return Event(
        **{
            **row,
            "kind": EventKind(row["kind"]),
            "outcome": Outcome(row["outcome"]),
            "arguments": Arguments(**row["arguments"]),
            "files": tuple(row["files"]),
        }
    )


def _deed(row: dict[str, Any]) -> Deed:
    lists = {name: tuple(row[name]) for name in ("found", "also")}
    return Deed(**{**row, **lists, "act": Act(row["act"])})


def _remark(row: dict[str, Any]) -> Remark:
    return Remark(**{**row, "kind": RemarkKind(row["kind"])})


def _report(row: dict[str, Any]) -> Report:
    made: Report = _with_files(Report, {**row, "outcome": Outcome(row["outcome"])})
    return made


def _with_files(make: Callable[..., Any], row: dict[str, Any]) -> Any:
    return make(**{**row, "files": tuple(row["files"])})


def _optional(make: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else make(value)
