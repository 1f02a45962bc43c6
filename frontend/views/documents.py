"""The documentation pages."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from frontend import documentation
from frontend.languages import speak


def index(request: HttpRequest) -> HttpResponse:
    """Show the first page."""
    return _shown(request, documentation.pages()[0])


def document(request: HttpRequest, name: str) -> HttpResponse:
    """Show one page."""
    found = documentation.page(name=name)
    if found is None:
        raise Http404
    return _shown(request, found)


def _shown(request: HttpRequest, page: documentation.Page) -> HttpResponse:
    speak(request)
    context = {"page": page, "pages": documentation.pages()}
    return render(request, "pages/document.html", context)
