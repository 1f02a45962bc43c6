"""The Teach panel: write a memory down, see its type, its like, and any secret first."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput
from frontend.labels import memory_labels
from frontend.views import base, imports
from frontend.views.base import Frame
from memory.customization.queries import list_custom_types
from memory.intake.actions.candidate import may_write_for_all
from memory.intake.actions.preview import preview
from memory.intake.actions.remember import NewMemory, Outcome, remember
from memory.records.actions import confirm
from memory.taxonomy import LinkKind, Scope, Source

SHORTEST_LOOK = 12  # characters from which a look at the text is worth it
OFFERED_TYPES = (
    "decision", "gotcha", "dead_end", "error_pattern", "fix", "pattern", "workflow_recipe",
    "requirement", "preference", "fact", "reference", "tool", "module_insight", "commitment",
    "causal_dependency", "person",
)  # fmt: skip
OFFERED_SCOPES = ("project", "personal", "organization")


@base.member
def teach(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the panel, to write or to import, and store what was taught."""
    if request.method != "POST" and "import" in request.GET:
        return base.dialog(request, "partials/teach_import.html", imports.form())
    if request.method != "POST":
        return _panel(request, frame, request.GET)
    try:
        outcome = remember(caller=frame.caller, new=_new(frame, request.POST), now=frame.now)
    except CairnError as error:
        return _panel(request, frame, request.POST, error=error, status=error.status)
    if outcome.memory is None:
        return _panel(request, frame, request.POST, refused=outcome, status=422)
    return _taught(request, frame, outcome)


@require_POST
@base.member
def look(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Say what would become of the text as it stands; take a secret out of it on demand."""
    return base.page(request, "partials/teach_look.html", _looked(frame, request.POST))


def _looked(frame: Frame, form: Mapping[str, str]) -> dict[str, object]:
    """Return what there is to say of a text that is being written."""
    context: dict[str, object] = {"chosen": form.get("type", "")}
    if len(form.get("content", "").strip()) < SHORTEST_LOOK:
        return context
    try:
        new = _new(frame, form)
        seen = preview(caller=frame.caller, new=new, now=frame.now)
        if seen.secrets and "redact" in form:
            context["text_again"] = seen.redacted
            new = replace(new, content=seen.redacted)
            seen = preview(caller=frame.caller, new=new, now=frame.now)
        return {**context, "seen": seen}
    except InvalidInput as error:
        return {**context, "error": error}


@require_POST
@base.member
def known(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Confirm what is known already instead of saying it twice."""
    memory = base.memory_here(frame, memory_id)
    confirm(caller=frame.caller, memory_id=memory.id, now=frame.now)
    to = base.address("memory", frame, memory.id)
    say = _("That was known already; it is confirmed now.")
    return base.done(request, to=to, say=say, changed="memories")


def _panel(
    request: HttpRequest,
    frame: Frame,
    form: QueryDict | Mapping[str, str],
    *,
    status: int = 200,
    **extra: object,
) -> HttpResponse:
    for_all = may_write_for_all(caller=frame.caller) and frame.project is not None
    context = {
        "form": form,
        "types": (
            *((name, memory_labels.TYPES[name]) for name in OFFERED_TYPES),
            *_own_types(request),
        ),
        "scopes": tuple(
            (name, memory_labels.SCOPES[name], name == Scope.ORGANIZATION and not for_all)
            for name in OFFERED_SCOPES
        ),
        **extra,
    }
    return base.dialog(request, "partials/teach.html", context, status=status)


def _own_types(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield the types that methodologies of the organization add, by the names they have."""
    caller = request.frame.caller  # type: ignore[attr-defined]
    return ((name, name) for name in list_custom_types(caller=caller))


def _taught(request: HttpRequest, frame: Frame, outcome: Outcome) -> HttpResponse:
    says = {
        "added": _("Remembered."),
        "confirmed": _("That was known already; it is confirmed now."),
        "updated": _("Updated."),
    }
    said = (says[outcome.outcome], _meanwhile(outcome))
    memory = outcome.memory
    to = reverse("permalink", args=(memory.id,)) if memory else "/"
    return base.done(request, to=to, say=" ".join(filter(None, said)), changed="memories")


def _meanwhile(outcome: Outcome) -> str:
    """Say what became of another memory, which who teaches should not have to find out."""
    if outcome.conflict_id is not None:
        return _("It contradicts another memory; both wait in Conflicts for a decision.")
    if outcome.operation in {LinkKind.SUPERSEDES, LinkKind.UPDATE}:
        return _("It takes the place of an older memory, which its history keeps.")
    return ""


def _new(frame: Frame, form: Mapping[str, str]) -> NewMemory:
    return NewMemory(
        content=form.get("content", "").replace("\r\n", "\n").strip(),
        source=Source.USER_TAUGHT.value,
        type=form.get("type") or None,
        project=frame.project.slug if frame.project else None,
        tags=_list(form.get("tags", "")),
        related_files=_list(form.get("files", "")),
        scope=form.get("scope") or None,
        pinned="pinned" in form,
    )


def _list(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.replace("\n", ",").split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
