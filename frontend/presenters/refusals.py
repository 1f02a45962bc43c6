"""What refusals say, in the reader's language.

A refusal comes in English (`accounts.messages`); the catalog has the French of every sentence that
the sources raise, which `tests.support.catalogs` checks. Programs are always answered in English.
"""

import re
from collections.abc import Mapping
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import gettext

from accounts import free_texts
from accounts.caller import Role, TokenScope
from accounts.messages import Message, MessageList, Value
from frontend import labels
from memory.intake.actions.replacement import SENT_AGAIN
from memory.secrets.findings import SecretKind
from memory.taxonomy import Scope, Status
from memory.text.text import TextFaultKind

RESTORED: Final = re.compile(r"restored version (?P<number>\d+)\Z")
NAMES: Final[Mapping[type, Mapping[str, labels.Name]]] = {
    Role: labels.ROLES,
    TokenScope: labels.TOKEN_SCOPES,
    Scope: labels.SCOPES,
    Status: labels.STATUSES,
    SecretKind: labels.SECRETS,
    TextFaultKind: labels.UNSTORABLE,
}


def translate(sentence: str) -> str:
    """Return a sentence in the language of the page; one that no catalog has stays as it is.

    What it repeats of a text that was sent, it repeats without secrets.
    """
    if not sentence:
        return ""  # gettext says the head of the catalog for it
    if isinstance(sentence, MessageList):
        return " ".join(translate(one) for one in sentence.several)
    if not isinstance(sentence, Message):
        return gettext(sentence)
    template = gettext(sentence.template)
    if template == sentence.template:
        return free_texts.masked(text=str(sentence))
    values = {name: _value_words(value) for name, value in sentence.values.items()}
    return free_texts.masked(text=template.format_map(values))


def correction(reason: str) -> str:
    """Return why a memory was replaced: the kind it begins with by name, the rest as written."""
    kind, _, why = reason.partition(": ")
    if kind not in labels.CORRECTIONS:
        return reason
    name = str(labels.CORRECTIONS[kind])
    return gettext("%(what)s: %(why)s") % {"what": name, "why": why} if why else name


def noted(reason: str) -> str:
    """Return why a memory was changed; what the product notes itself is said, the rest shown."""
    if reason == SENT_AGAIN:
        return gettext(reason)
    restored = RESTORED.match(reason)
    return gettext("restored version %(number)s") % restored.groupdict() if restored else reason


def _value_words(value: Value) -> str:
    if isinstance(value, tuple):
        return ", ".join(_value_words(one) for one in value)
    if isinstance(value, Message):
        return translate(value)
    if isinstance(value, str):
        return str(labels.name_of(NAMES.get(type(value), {value: value}), value))
    return str(number_format(value, use_l10n=True, force_grouping=True))
