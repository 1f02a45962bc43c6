"""Mails of our own, a template by language whose first line is the subject.

Those of sign-up and sign-in are allauth's (`accounts.adapters`).
"""

from collections.abc import Mapping
from typing import Any, Final

from django.core.mail import send_mail
from django.template.loader import render_to_string

LANGUAGES: Final = ("en", "fr")


def send(name: str, *, language: str, to: str, context: Mapping[str, Any]) -> bool:
    """Send a mail; say whether it was taken. Raises SMTPException or OSError where none is."""
    known = language if language in LANGUAGES else LANGUAGES[0]
    text = render_to_string(f"accounts/{name}.{known}.txt", dict(context))
    subject, _, body = text.partition("\n")
    return send_mail(" ".join(subject.split()), body.lstrip(), None, [to]) == 1
