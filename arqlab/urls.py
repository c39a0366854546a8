"""URLs of ArqLab, app by app."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("assessment.urls")),  # first, because judging requests are the most frequent
    path("", include("arqlab.pages.urls")),
    path("", include("arqlab.core.urls")),
    path("", include("collection.urls")),
    path("", include("submissions.urls")),
    path("", include("evaluation.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
