"""Every address of the product."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from config.rest import documentation

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api_urls")),
    re_path("^docs/api/?$", documentation.page),
    path("health/", include("config.probes")),
    path("", include("frontend.urls")),
]

handler400 = "frontend.views.errors.unreadable"
handler403 = "frontend.views.errors.forbidden"
handler404 = "frontend.views.errors.not_found"
handler500 = "frontend.views.errors.broken"
