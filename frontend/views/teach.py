"""The Teach panel: write a memory down, see its type, its like, and any secret first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput
from frontend import labels
from frontend.views import base, documents
from frontend.views.base import Frame
from memory.customization.queries import list_custom_types
from memory.intake.actions.candidate import may_write_for_all
from memory.intake.actions.remember import NewMemory, Outcome, remember
from memory.intake.actions.similar_memories import preview
from memory.records.actions import confirm
from memory.taxonomy import LinkKind, Scope, Source

SHORTEST_LOOK: Final = 12  # characters from which a look at the text is worth it
OFFERED_TYPES: Final = (
    "decision", "gotcha", "dead_end", "error_pattern", "fix", "pattern", "workflow_recipe",
    "requirement", "preference", "fact", "reference", "tool", "module_insight", "commitment",
    "causal_dependency", "person",
)  # fmt: skip
OFFERED_SCOPES: Final = ("project", "personal", "organization")


@base.member
def teach(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the panel, to write or to import, and store what was taught."""
    if request.method != "POST":
        if "import" in request.GET:
            return base.dialog(request, "partials/teach_import.html", documents.form())
        return _panel(request, frame, {"form": request.GET})
    context: dict[str, object] = {"form": request.POST}
    try:
        new = _new_memory(frame, request.POST)
        outcome = remember(caller=frame.caller, new=new, now=frame.now)
        if outcome.memory is not None:
            return _taught(request, outcome)
        context["refused"] = outcome
    except CairnError as error:
        context["error"] = error
    return _panel(request, frame, context)


def _panel(request: HttpRequest, frame: Frame, context: dict[str, object]) -> HttpResponse:
    """Show the form. Types that methodologies add are offered by the names they have."""
    for_all = may_write_for_all(caller=frame.caller) and frame.project is not None
    context |= {
        "types": (
            *((name, labels.TYPES[name]) for name in OFFERED_TYPES),
            *((name, name) for name in list_custom_types(caller=frame.caller)),
        ),
        "scopes": tuple(
            (name, labels.SCOPES[name], name == Scope.ORGANIZATION and not for_all)
            for name in OFFERED_SCOPES
        ),
    }
    status = 422 if "refused" in context else None
    return base.dialog(request, "partials/teach.html", context, status=status)


@require_POST
@base.member
def look(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Say what would become of the text as it stands; take a secret out of it on demand."""
    form = request.POST
    context: dict[str, object] = {"chosen": form.get("type", "")}
    if len(form.get("content", "").strip()) >= SHORTEST_LOOK:
        try:
            new = _new_memory(frame, form)
            seen = preview(caller=frame.caller, new=new, now=frame.now)
            if seen.secrets and "redact" in form:
                context["text_again"] = seen.redacted
                new = replace(new, content=seen.redacted)
                seen = preview(caller=frame.caller, new=new, now=frame.now)
            context["seen"] = seen
        except InvalidInput as error:
            context["error"] = error
    return base.page(request, "partials/teach_look.html", context, status=200)


@require_POST
@base.member
def confirm_known(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Confirm what is known already instead of saying it twice."""
    memory = base.memory_here(frame, memory_id)
    confirm(caller=frame.caller, memory_id=memory.id, now=frame.now)
    to = base.address("memory", frame, memory.id)
    say = _("That was known already; it is confirmed now.")
    return base.done(request, to=to, say=say, changed="memories")


def _taught(request: HttpRequest, outcome: Outcome) -> HttpResponse:
    """Say what became of the text, and of another memory: who teaches should not have to look."""
    says = {
        "added": _("Remembered."),
        "confirmed": _("That was known already; it is confirmed now."),
        "updated": _("Updated."),
    }
    say = says[outcome.outcome]
    if outcome.conflict_id is not None:
        say += " " + _("It contradicts another memory; both wait in Conflicts for a decision.")
    elif outcome.operation in {LinkKind.SUPERSEDES, LinkKind.UPDATE}:
        say += " " + _("It takes the place of an older memory, which its history keeps.")
    to = reverse("permalink", args=(outcome.memory.id,)) if outcome.memory else "/"
    return base.done(request, to=to, say=say, changed="memories")


def _new_memory(frame: Frame, form: Mapping[str, str]) -> NewMemory:
    return NewMemory(
        content=form.get("content", "").replace("\r\n", "\n").strip(),
        source=Source.USER_TAUGHT.value,
        type=form.get("type") or None,
        project=frame.slug or None,
        tags=_names(form.get("tags", "")),
        related_files=_names(form.get("files", "")),
        scope=form.get("scope") or None,
        pinned="pinned" in form,
    )


def _names(text: str) -> tuple[str, ...]:
    """Return what stands between commas or on lines, each once."""
    parts = (part.strip() for part in text.replace("\n", ",").split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
