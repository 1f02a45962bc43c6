"""In which language a page answers: the person's own, else what the browser asks for."""

from django.http import HttpRequest
from django.utils import translation


def speak(request: HttpRequest) -> None:
    """Answer in the language the signed-in person chose, when one was chosen."""
    language = getattr(getattr(request, "user", None), "language", "")
    if language:
        translation.activate(language)
        request.LANGUAGE_CODE = translation.get_language()
