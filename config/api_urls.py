"""Every call of /api/v1/: what the apps declare, and the document that describes it.

An endpoint is declared once, in its app's `api` or a module of that package; all are read here.
"""

import pkgutil
import re
from importlib import import_module
from typing import Final

from django.urls import URLPattern, path, re_path

import accounts.api
import graph.api
import memory.api
import teams.api
from accounts.api.endpoints import Endpoint, declared_in
from config.rest import documentation, views

PACKAGES: Final = (teams.api, graph.api, memory.api, accounts.api)
MODULES: Final = (
    *PACKAGES,
    *(
        import_module(f"{package.__name__}.{module.name}")
        for package in PACKAGES
        for module in pkgutil.iter_modules(getattr(package, "__path__", ()))
    ),
)
ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    endpoint for module in MODULES for endpoint in declared_in(module)
)


def _pattern(address: str) -> str:
    """Return the regular expression of a path; the slash at its end is optional."""
    return "^" + re.sub(r"{([a-z]+)}", r"(?P<\1>[^/]+)", address) + "/?$"


def _patterns() -> list[URLPattern]:
    by_path = views.views_of(endpoints=ENDPOINTS)
    fixed_first = sorted(by_path, key=lambda address: ("{" in address, address))
    return [re_path(_pattern(address), by_path[address]) for address in fixed_first]


urlpatterns: list[URLPattern] = [
    path("openapi.json", documentation.document_view(endpoints=ENDPOINTS), name="openapi"),
    *_patterns(),
]
