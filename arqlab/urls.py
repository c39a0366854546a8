"""The addresses of ArqLab, one app after the other."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("arqlab.core.urls")),
    path("", include("collection.urls")),
    path("", include("submissions.urls")),
    path("", include("assessment.urls")),
    path("", include("evaluation.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
