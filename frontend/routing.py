"""The addresses of sockets (spec 9.2)."""

from django.urls import path

from frontend.consumers import ChangesConsumer

websocket_urlpatterns = [path("ws/o/<slug:org>/", ChangesConsumer.as_asgi())]
