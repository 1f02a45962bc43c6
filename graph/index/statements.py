"""Statements about many nodes and edges of code at once; in a unit, the project's index held.

Files are found by the unique index of the nodes without a file, symbols by the one of their file,
edges by the indexes of both their ends.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from django.db import connection

from graph.code.values import LOOSE

# The nodes of files: themselves, and what they define.
NODES: Final = """
    SELECT id FROM graph_node WHERE file_id = ANY(%(files)s::bigint[])
    UNION ALL SELECT unnest(%(files)s::bigint[])
"""
STALE_NODES: Final = "UPDATE graph_node SET stale_at = %(at)s WHERE id = ANY(%(nodes)s)"
STALE_EDGES: Final = "UPDATE graph_edge SET stale_at = %(at)s WHERE from_node_id = ANY(%(nodes)s)"
WANTED: Final = """
    UPDATE graph_node AS n SET wanted = w.hash, size = w.size
    FROM json_to_recordset(%(rows)s::json) AS w(node bigint, hash text, size int)
    WHERE n.id = w.node
"""
FRESH_SYMBOLS: Final = "UPDATE graph_node SET stale_at = NULL WHERE file_id = ANY(%(files)s)"
NOTHING_WANTED: Final = "UPDATE graph_node SET wanted = '' WHERE id = ANY(%(files)s)"
# Edges to nodes that go come from files that stay: stale, each to a text of its own, because two
# from one node may have led to different ones. A name that is written in a file has no such mark.
LOOSEN: Final = """
    UPDATE graph_edge
    SET to_node_id = NULL, to_text = %(mark)s::text || to_node_id, stale_at = %(at)s
    WHERE to_node_id = ANY(%(nodes)s)
"""
DROP_EDGES: Final = "DELETE FROM graph_edge WHERE from_node_id = ANY(%(nodes)s)"
DROP_NODES: Final = "DELETE FROM graph_node WHERE id = ANY(%(nodes)s)"
# What a file defines, as it stands there now: nodes keep their numbers, so that edges keep them.
MOVE: Final = """
    UPDATE graph_node AS n SET kind = m.kind, label = m.label, language = m.language,
        first_line = m.first_line, last_line = m.last_line, stale_at = NULL
    FROM json_to_recordset(%(rows)s::json)
        AS m(id bigint, kind text, label text, language text, first_line int, last_line int)
    WHERE n.id = m.id
"""
DROP_THESE_EDGES: Final = "DELETE FROM graph_edge WHERE id = ANY(%(edges)s)"
# What edges weigh and how sure they are; they are fresh.
WEIGH: Final = """
    UPDATE graph_edge AS e SET weight = w.weight, confidence = w.confidence, stale_at = NULL
    FROM json_to_recordset(%(rows)s::json) AS w(id bigint, weight float8, confidence float8)
    WHERE e.id = w.id
"""


def want(*, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Wait for texts: of each a row with node, hash and size. It and its edges are stale now."""
    if not rows:
        return
    run(WANTED, rows=rows)
    make_stale(files=[row["node"] for row in rows], now=now)


def take_back(*, files: Sequence[int]) -> None:
    """Wait no longer for files that are again what was read; their edges are to be made anew."""
    if not files:
        return
    run(NOTHING_WANTED, files=files)
    run(FRESH_SYMBOLS, files=files)


def make_stale(*, files: Iterable[int], now: datetime) -> None:
    """Make files, what they define, and the edges from them stale."""
    nodes = _nodes_of(files)
    run(STALE_NODES, nodes=nodes, at=now)
    run(STALE_EDGES, nodes=nodes, at=now)


def drop_files(*, files: Sequence[int], now: datetime) -> None:
    """Let files go with all that they define."""
    if files:
        drop_nodes(nodes=_nodes_of(files), now=now)


def drop_nodes(*, nodes: Sequence[int], now: datetime) -> None:
    """Let nodes go with the edges from them; edges to them are stale from now on."""
    run(LOOSEN, nodes=nodes, at=now, mark=LOOSE)
    run(DROP_EDGES, nodes=nodes)
    run(DROP_NODES, nodes=nodes)


def _nodes_of(files: Iterable[int]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(NODES, {"files": list(files)})
        return [row[0] for row in cursor.fetchall()]


def run(statement: str, *, rows: Sequence[Mapping[str, Any]] = (), **values: Any) -> None:
    """Execute a statement; its rows are sent as one text."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {**values, "rows": orjson.dumps(rows).decode()})
