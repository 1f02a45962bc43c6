"""The documentation pages."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.languages import speak
from frontend.presenters import doc_pages


def index(request: HttpRequest) -> HttpResponse:
    """Show the first page."""
    return _shown(request, doc_pages.pages()[0])


def document(request: HttpRequest, name: str) -> HttpResponse:
    """Show one page."""
    found = doc_pages.page(name=name)
    if found is None:
        raise Http404
    return _shown(request, found)


def _shown(request: HttpRequest, page: doc_pages.Page) -> HttpResponse:
    speak(request)
    context = {"page": page, "pages": doc_pages.pages()}
    return render(request, "pages/document.html", context)
