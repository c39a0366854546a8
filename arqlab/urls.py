"""The addresses of ArqLab, one app after the other."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path(
        "", include("assessment.urls")
    ),  # first, as no addresses are asked for as often as those of judging
    path("", include("arqlab.pages.urls")),
    path("", include("arqlab.core.urls")),
    path("", include("collection.urls")),
    path("", include("submissions.urls")),
    path("", include("evaluation.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
