"""Change the model whose vectors searches compare, or go back.

A switch names a model and queues work (`maintenance.work`); until every memory has a vector of it,
the old one answers. The vectors of the old one are kept, so the way back is one transaction and
needs no model; they go when somebody drops them, which is an act of its own. One organization has
one active model, and at most one is being filled. Whoever works at the machine acts as a `Person`
without a role, and may do all of it.
"""

import logging
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.audit import Actor, Person
from accounts.caller import Caller, principal
from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.errors import NotSwitchable
from memory.index.actions import embedding
from memory.index.models import EmbeddingModel
from memory.index.queries import check_chooses
from memory.providers import registry
from memory.providers.contracts import EmbeddingModel as Model
from memory.providers.errors import ProviderError
from teams import audit

log = logging.getLogger(__name__)

SWITCH: Final = "memory.switch_model"
DROP: Final = "memory.drop_vectors"
KEY: Final = "model"  # of its jobs: one of them waits at a time
INSTALLATION: Final = "installation"  # the interface of what a setting asks for
LONGEST_KEY: Final = 120  # characters, the column's
MOST_DIMENSIONS: Final = 16_000  # of a half vector, pgvector
PROBE: Final = "Which model answers here?"


def switch(*, caller: Actor, key: str) -> UUID | None:
    """Begin to make vectors of another model, and of no third; return the job's id if it is new.

    Raises InvalidInput for a model that is not known, NotSwitchable when it does not answer or is
    active already, RoleNotSufficient.
    """
    _check_chooses(caller)
    wanted = _known_model(key)
    try:
        tenant = tenancy.current().schema_name
        registry.embedder(key=wanted.key, tenant=tenant).embed_queries(texts=(PROBE,))
    except ProviderError as error:
        raise NotSwitchable(detail=error.detail, hint=error.hint) from error
    created_by = principal(caller=caller) if isinstance(caller, Caller) else None
    return _begin(caller, wanted, created_by, chosen=True)


def follow_installation() -> bool:
    """Begin to switch to the installation's model; say whether one was begun.

    Only where the active one was nobody's choice, and nothing is being filled. Whether it answers
    is found out by the job, so that one that is away is not waited for in every organization.
    """
    with tenancy.unit():
        active = EmbeddingModel.objects.filter(active=True).first()
        is_filling = EmbeddingModel.objects.filter(filling=True).exists()
    if active is None or active.chosen or is_filling:
        return False
    try:
        wanted = _known_model("")
        if wanted.key == active.key:
            return False
        actor = Person(user_id=None, source_interface=INSTALLATION)
        _begin(actor, wanted, None, chosen=False)
    except InvalidInput as error:
        log.warning("Not switched to the installation's model: %s", error.detail)
        return False
    return True


def resume() -> bool:
    """Queue the work of a switch whose job was lost or dropped; say whether there was one."""
    with tenancy.unit():
        row = EmbeddingModel.objects.filter(filling=True).first()
        if row is None or jobs.known_keys(names=(SWITCH,), keys=(KEY,)):
            return False
        return enqueue(key=row.key) is not None


def cancel(*, caller: Actor) -> None:
    """Stop filling; what has been made is kept for another time. Raises NotSwitchable for none."""
    _check_chooses(caller)
    with tenancy.unit():
        row = _locked().filter(filling=True).first()
        if row is None:
            raise NotSwitchable(
                detail="No other model is being filled.", hint="Look at the list of models."
            )
        EmbeddingModel.objects.filter(pk=row.pk).update(filling=False)
        EmbeddingModel.objects.filter(active=True).update(chosen=True)
        _note(caller, "switch_cancelled", row)


def roll_back(*, caller: Actor) -> str:
    """Compare by the model before this one again, at once; return its key.

    Memories that came since have no vector of it and are found by their words until the queued job
    has embedded them. Raises NotSwitchable when there is no such model, or its vectors are gone.
    """
    _check_chooses(caller)
    with tenancy.unit():
        kept = _locked().filter(active=False, filling=False, activated_at__isnull=False)
        row = kept.order_by("-activated_at", "-id").first()
        if row is None:
            raise NotSwitchable(
                detail="There is no earlier model whose vectors are kept.",
                hint="Switch to another model instead.",
            )
        EmbeddingModel.objects.update(active=False, filling=False)
        EmbeddingModel.objects.filter(pk=row.pk).update(
            active=True, chosen=True, activated_at=Now()
        )
        _note(caller, "rolled_back", row)
        enqueue(key=row.key)
        return str(row.key)


def drop(*, caller: Actor, key: str) -> UUID | None:
    """Delete the vectors of a model that is not active, in the background; return the job's id.

    Raises NotSwitchable for one in use, InvalidInput for one the organization does not have.
    """
    _check_chooses(caller)
    with tenancy.unit():
        row = _locked().filter(key=key).first()
        if row is None:
            detail = message("There are no vectors of {key!r} here.", key=key)
            raise wrong_field(pointer="/key", detail=detail)
        if row.active or row.filling:
            raise NotSwitchable(
                detail=message("{key} is in use.", key=key),
                hint="Switch to another model, or cancel the switch.",
            )
        EmbeddingModel.objects.filter(pk=row.pk).update(activated_at=None)
        _note(caller, "dropped", row)
        return jobs.enqueue(DROP, payload={"model": row.pk}, key=str(row.pk))


def enqueue(*, key: str, delay_seconds: int = 0, created_by: UUID | None = None) -> UUID | None:
    """Queue the next part of a switch in the current unit; return the job's id if it is new."""
    return jobs.enqueue(
        SWITCH, payload={"key": key}, key=KEY, delay_seconds=delay_seconds, created_by=created_by
    )


def _check_chooses(caller: Actor) -> None:
    """Raise RoleNotSufficient for a caller who may not choose; operators at the machine may."""
    if isinstance(caller, Caller):
        check_chooses(caller=caller)


def _begin(actor: Actor, wanted: Model, created_by: UUID | None, *, chosen: bool) -> UUID | None:
    with tenancy.unit():
        active_id, active_key = embedding.active_model()
        row = embedding.space(model=wanted)
        filling = _locked().filter(filling=True).first()
        if active_id == row.id:
            raise NotSwitchable(
                detail=message("{key} is the active model already.", key=row.key),
                hint="Nothing is to be done.",
            )
        if filling is None or filling.pk != row.pk:
            changes = {"filling": True, "chosen": chosen, "overlap": None}
            EmbeddingModel.objects.filter(filling=True).update(filling=False)
            EmbeddingModel.objects.filter(pk=row.pk).update(**changes)
            _note(actor, "switch_begun", row, before=active_key)
        return enqueue(key=row.key, created_by=created_by)


def _known_model(key: str) -> Model:
    try:
        model = registry.embedder(key=key).model
    except ProviderError as error:
        raise wrong_field(
            pointer="/key", detail=error.detail, hint=error.hint, code="unknown_model"
        ) from error
    if len(model.key) > LONGEST_KEY or model.dimensions > MOST_DIMENSIONS:
        raise wrong_field(
            pointer="/key",
            detail=message(
                "A key has at most {characters} characters and {dimensions} dimensions.",
                characters=LONGEST_KEY,
                dimensions=MOST_DIMENSIONS,
            ),
            code="too_long",
        )
    return model


def _locked() -> QuerySet[EmbeddingModel]:
    return EmbeddingModel.objects.select_for_update().order_by("id")


def _note(actor: Actor, verb: str, row: EmbeddingModel, *, before: str = "") -> None:
    audit.append(
        act=f"model.{verb}",
        object_type="model",
        object_id=str(row.pk),
        caller=actor,
        details={"key": row.key} | ({"before": before} if before else {}),
    )
