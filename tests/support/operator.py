"""What a test itself reads or arranges, it does as an operator; what the product does, it does not.

Tests look at shared tables (tokens, jobs, memberships) to see what came of an act, without being in
any organization, where row-level security shows nothing. Each statement whose nearest caller is a
test gets the operators' setting, for itself alone. Product code called by a test gets nothing: it
runs behind the same walls as in production, or it does not work.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db.backends.signals import connection_created
from psycopg.pq import TransactionStatus

from config import env

TESTS = str(Path(__file__).resolve().parent.parent)
PRODUCT = tuple(
    f"{env.ROOT}/{app}/" for app in ("accounts", "config", "frontend", "graph", "memory", "teams")
)
HERE = str(Path(__file__).resolve())
MARKS = ("SAVEPOINT", "RELEASE", "ROLLBACK")  # a return to a mark brings its settings back
TURN = "SELECT set_config('cairn.operator', %s, %s)"


def install() -> None:
    """Accompany every connection this process opens from now on."""
    connection_created.connect(_accompany, dispatch_uid="tests operate")


def _accompany(*, connection: Any, **_: Any) -> None:
    if connection.vendor == "postgresql" and _run not in connection.execute_wrappers:
        connection.execute_wrappers.append(_run)


def _run(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    if str(sql).startswith(MARKS) or not _asked_by_a_test():
        return execute(sql, params, many, context)
    with _operating(context["connection"]):
        return execute(sql, params, many, context)


@contextmanager
def _operating(connection: Any) -> Iterator[None]:
    line, is_local = connection.connection, connection.in_atomic_block
    line.execute(TURN, ["on", is_local])
    try:
        yield
    finally:
        if line.info.transaction_status is not TransactionStatus.INERROR:
            line.execute(TURN, ["", is_local])


def _asked_by_a_test() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(PRODUCT):
            return False
        if name.startswith(TESTS) and name != HERE:
            return True
        frame = frame.f_back
    return False
