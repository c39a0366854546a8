"""The addresses of the app."""

from django.urls import URLPattern

app_name = "evaluation"
urlpatterns: list[URLPattern] = []
