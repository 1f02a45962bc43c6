"""The embedding models of an organization: look, switch, cancel, go back, drop."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.errors import CairnError, InvalidInput
from accounts.rights import manages
from frontend.views import base
from frontend.views.base import Frame
from memory.index import queries as index_queries
from memory.index.actions import model_switch
from memory.index.queries import Part

PAGE = "pages/settings_models.html"


@base.member
def models(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the models and change them; who may not is told who may."""
    context: dict[str, object] = {"section": "models", "now": frame.now, "form": request.POST}
    if not manages(caller=frame.caller):
        return base.page(request, PAGE, context, status=403)
    status = 200
    if request.method == "POST":
        try:
            _change(request, frame)
        except CairnError as error:
            context["error"], status = error, error.status
        else:
            address = reverse("settings_models", args=(frame.caller.organization_slug,))
            return base.moved(request, to=address)
    return base.page(request, PAGE, context | _shown(frame), status=status)


def _change(request: HttpRequest, frame: Frame) -> None:
    verb, key = request.POST.get("verb", ""), request.POST.get("key", "").strip()
    if verb == "switch" and key:
        model_switch.switch(caller=frame.caller, key=key)
    elif verb == "cancel":
        model_switch.cancel(caller=frame.caller)
    elif verb == "rollback":
        model_switch.roll_back(caller=frame.caller)
    elif verb == "drop" and key:
        model_switch.drop(caller=frame.caller, key=key)
    else:
        raise InvalidInput(detail="There is no such model.", hint="Choose one from the list.")


def _shown(frame: Frame) -> dict[str, object]:
    found = index_queries.models(caller=frame.caller)
    parts = {part.value: [model for model in found.models if model.part is part] for part in Part}
    kept = max(parts["kept"], key=lambda model: str(model.activated_at), default=None)
    return {
        "may_manage": True,
        "found": found,
        "queries": index_queries.queries_kept(caller=frame.caller),
        "filling": next(iter(parts["filling"]), None),
        "back": kept,
        "choices": [key for key in found.known if key not in _in_use(parts)],
    }


def _in_use(parts: dict[str, list[index_queries.ModelView]]) -> set[str]:
    return {model.key for part in ("active", "filling") for model in parts[part]}
