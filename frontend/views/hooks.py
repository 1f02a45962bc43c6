"""What gives memory back in a project, each hook switched by itself."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError
from frontend.views import base
from frontend.views.base import Frame
from frontend.views.places import PROJECT, of_project
from teams.actions.project_settings import switch_hooks
from teams.queries import Hook


@require_POST
@base.member
def project_hooks(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save which hooks are on: those that are ticked, and no other."""
    ticked = frozenset(request.POST.getlist("on"))
    try:
        switch_hooks(
            caller=frame.caller,
            ref="" if frame.project is None else str(frame.project.id),
            switched={hook: hook.value in ticked for hook in Hook},
        )
    except CairnError as error:
        context = of_project(frame=frame) | {"hooks_error": error}
        return base.page(request, PROJECT, context, status=error.status)
    return base.moved(request, to=base.address("project_settings", frame))
