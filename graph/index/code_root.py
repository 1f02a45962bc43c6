"""The node of a project's code as a whole, which whoever writes its index holds."""

from typing import Any, Final
from uuid import UUID

from accounts import jobs
from accounts.audit import Actor
from accounts.caller import Caller, TokenScope
from accounts.messages import message
from graph.index.queries import JOB, IndexView, State, index_of, later_key
from graph.models import Node
from graph.vocabulary import Layer, NodeKind, NodeSource
from teams import changes
from teams.errors import RoleNotSufficient
from teams.models import Project

# Defaults, not measured.
LATEST_SECONDS: Final = 600  # after the first, however long files keep coming
LATER_SECONDS: Final = 30  # after the last file that came of an index that is not whole


def check_may_index(*, caller: Caller) -> None:
    """Return when the caller may send code. Raises RoleNotSufficient."""
    if TokenScope.INDEX not in caller.scopes:
        scope = TokenScope.INDEX
        raise RoleNotSufficient(
            detail=message("This credential has no {scope} scope.", scope=scope),
            hint=message("Create a token with the {scope} scope.", scope=scope),
        )


def hold_root(*, project: Project) -> Node:
    """Return the node of a project's code, made where it lacks, locked until the unit ends."""
    wanted = {"project": project, "kind": NodeKind.REPOSITORY, "qualified": "", "file": None}
    Node.objects.get_or_create(
        **wanted,
        defaults={"label": project.slug, "layer": Layer.STRUCTURAL, "source": NodeSource.AST},
    )
    return Node.objects.select_for_update(no_key=True).get(**wanted)


def put(*, root: Node, **details: Any) -> None:
    """Keep something about the index as a whole."""
    root.details = {**(root.details or {}), **details}
    root.save(update_fields=["details"])


def revision(*, root: Node) -> int:
    """Return how often the files of an index have changed."""
    return int((root.details or {}).get("revision", 0))


def is_resolved(*, root: Node) -> bool:
    """Say whether the edges are made of the files as they are."""
    return bool((root.details or {}).get("resolved", 0) == revision(root=root))


def queue(*, by: UUID | None, project_id: UUID, view: IndexView) -> tuple[UUID | None, IndexView]:
    """Queue the work on edges: at once when all files are there, else a while after the last.

    Returns the job's id, None when one that waits will do it, and how far the index is then.
    """
    later = view.files_done < view.files_total
    key = later_key(project_id=project_id) if later else project_id.hex
    job_id = jobs.enqueue(
        JOB,
        payload={"key": str(project_id)},
        key=key,
        delay_seconds=LATER_SECONDS if later else 0,
        created_by=by,
    )
    if later and job_id is None:
        jobs.put_off(name=JOB, key=key, delay_seconds=LATER_SECONDS, longest_seconds=LATEST_SECONDS)
    if job_id and view.state is State.FAILED:  # it is tried again
        view = index_of(project_id=project_id)
    return job_id, view


def announce(*, actor: Actor, project: Project, view: IndexView) -> None:
    """Say in the feed of changes how far the index of a project is."""
    changes.append(
        kind="index.progress",
        object_id=project.id,
        project_id=project.id,
        audience=project.id,
        caller=actor,
        summary={
            "slug": project.slug,
            "name": project.name,
            "state": view.state.value,
            "done": view.files_done,
            "total": view.files_total,
        },
    )
