"""URLs of the server itself, and of the schema of its API."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from arqlab.web.patterns import API, pages_in

app_name = "server"
urlpatterns = [
    *pages_in("arqlab.server"),
    path(f"{API}schema/", SpectacularAPIView.as_view(), name="api-schema"),
]
