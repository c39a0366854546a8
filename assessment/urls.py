"""The addresses of the app."""

from django.urls import path

from assessment import views

app_name = "assessment"
urlpatterns = [
    path("labs/<slug:lab>/visual-ids/<int:version>/judged/", views.touched_list, name="touched-list"),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/guidelines/<int:version>/", views.guideline_detail, name="guideline-detail"
    ),
]
