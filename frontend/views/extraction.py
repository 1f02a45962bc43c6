"""What conversations of a project may teach, and what models may be asked for it."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError
from frontend.views import base
from frontend.views.base import Frame
from frontend.views.places import PROJECT, of_project
from teams.actions.projects import change_project
from teams.queries import MODE, SPENDING

NONE_SUCH = -1  # what is no number is refused as one that is too small


@require_POST
@base.member
def project_extraction(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save how a project's conversations are read; an empty field is the usual value."""
    version = request.POST.get("version", "")
    given = {name: _whole(request.POST.get(name, "")) for name in SPENDING}
    try:
        change_project(
            caller=frame.caller,
            ref="" if frame.project is None else str(frame.project.id),
            changes={MODE: request.POST.get(MODE) or None, **given},
            if_version=int(version) if version.isdecimal() and len(version) < 10 else 0,
        )
    except CairnError as error:
        context = of_project(frame=frame) | {"extraction_error": error, "said": request.POST}
        return base.page(request, PROJECT, context, status=error.status)
    return base.moved(request, to=base.address("project_settings", frame))


def _whole(text: str) -> int | None:
    bare = text.strip()
    if not bare:
        return None
    return int(bare) if bare.isdecimal() and len(bare) < 12 else NONE_SUCH
