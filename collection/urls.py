"""The addresses of the app."""

from django.urls import path

from collection import views

app_name = "collection"
urlpatterns = [
    path("labs/<slug:lab>/posts/<str:post_id>/", views.post_detail, name="post-detail"),
    path(
        "labs/<slug:lab>/collection/visual-ids/<int:version>/",
        views.visual_map_detail,
        name="visual-map-detail",
    ),
]
