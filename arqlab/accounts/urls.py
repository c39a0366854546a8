"""URLs of accounts."""

from django.urls import path

from arqlab.accounts import apis
from arqlab.web.patterns import API, pages_in

app_name = "accounts"
urlpatterns = [*pages_in("arqlab.accounts"), path(f"{API}me/", apis.MeApi.as_view(), name="api-me")]
