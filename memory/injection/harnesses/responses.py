"""Answers in the shapes that agents' programs read; empty without context."""

from collections.abc import Mapping
from typing import Any

from memory.injection.harnesses.adapters import Adapter, Form


def answer(*, adapter: Adapter, event: str, text: str) -> Mapping[str, Any]:
    """Return what a program is answered at an event; `event` as it names it itself."""
    if adapter.form is Form.MODIFICATION:
        silent: Mapping[str, Any] = {"cancel": False}
        return {**silent, "contextModification": text} if text else silent
    if not text:
        return {}
    if adapter.form is Form.HOOK_SPECIFIC:
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    names = {
        Form.ADDITIONAL_SNAKE: "additional_context",
        Form.ADDITIONAL_CAMEL: "additionalContext",
        Form.CONTEXT: "context",
    }
    return {names[adapter.form]: text}
