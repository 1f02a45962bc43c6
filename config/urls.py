"""Every address of the product, and every call of /api/v1/ that the apps declare.

An endpoint is declared once, in its app's `api` or a module of that package; all are read here.
"""

import pkgutil
import re
from importlib import import_module
from typing import Final

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

import accounts.api
import graph.api
import memory.api
import teams.api
from accounts.api.endpoints import Endpoint, declared_in
from config import health, metrics
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


def _calls() -> list[URLPattern]:
    """Return the addresses of all calls, fixed ones first; the slash at the end is optional."""
    by_path = views.views_of(endpoints=ENDPOINTS)
    return [
        re_path("^" + re.sub(r"{([a-z]+)}", r"(?P<\1>[^/]+)", address) + "/?$", by_path[address])
        for address in sorted(by_path, key=lambda address: ("{" in address, address))
    ]


API: Final[list[URLPattern | URLResolver]] = [
    path("openapi.json", documentation.document_view(endpoints=ENDPOINTS), name="openapi"),
    *_calls(),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/v1/", include(API)),
    re_path("^docs/api/?$", documentation.page),
    path("health/", include(health.urlpatterns)),
    *metrics.urlpatterns,
    path("", include("frontend.urls")),
]

handler400 = "frontend.views.errors.unreadable"
handler403 = "frontend.views.errors.forbidden"
handler404 = "frontend.views.errors.not_found"
handler500 = "frontend.views.errors.broken"
