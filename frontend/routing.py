"""The addresses of sockets."""

from django.urls import path

from frontend.consumers import ChangesConsumer

websocket_urlpatterns = [path("ws/o/<slug:org>/", ChangesConsumer.as_asgi())]
