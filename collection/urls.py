"""The addresses of the app."""

from django.urls import path

from collection import views

app_name = "collection"
urlpatterns = [
    path("labs/<slug:lab>/posts/", views.post_list, name="post-list"),
    path("labs/<slug:lab>/posts/<str:post_id>/", views.post_detail, name="post-detail"),
    path("labs/<slug:lab>/formulas/by-id/<str:formula_id>/", views.formula_by_id, name="formula-by-id"),
    path("labs/<slug:lab>/formulas/<str:visual_id>/", views.formula_detail, name="formula-detail"),
    path(
        "labs/<slug:lab>/collection/visual-ids/<int:version>/",
        views.visual_map_detail,
        name="visual-map-detail",
    ),
]
