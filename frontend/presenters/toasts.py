"""Short messages a page shows after an act, as the header htmx turns into events."""

import json


def toast(*, text: str, undo: str = "", changed: str = "") -> str:
    """Return an HX-Trigger value: show a text, offer to post to `undo`, refresh `changed`.

    Header values are Latin-1, so JSON escapes everything else.
    """
    events: dict[str, object] = {"cairn:toast": {"text": text, "undo": undo}, "cairn:close": {}}
    if changed:
        events["cairn:changed"] = {"what": changed}
    return json.dumps(events)
