"""The addresses of the app."""

from django.urls import URLPattern

app_name = "collection"
urlpatterns: list[URLPattern] = []
