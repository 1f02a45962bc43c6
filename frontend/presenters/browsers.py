"""What a browser calls itself, in a few words that people know."""

from typing import Final

BROWSERS: Final = (  # the first sign that is there says which; most claim to be others as well
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
SYSTEMS: Final = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip
LONGEST: Final = 60  # characters of a name that is none of these


def name_of(*, agent: str) -> str:
    """Return browser and system, such as "Firefox · Linux"; what neither names, shortened."""
    parts = [
        next((name for sign, name in names if sign in agent), "") for names in (BROWSERS, SYSTEMS)
    ]
    return " · ".join(part for part in parts if part) or agent[:LONGEST]
