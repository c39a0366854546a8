"""The addresses of the app."""

from django.urls import path

from collection import views

app_name = "collection"
urlpatterns = [
    path("labs/<slug:lab>/posts/", views.post_list, name="post-list"),
    path("labs/<slug:lab>/posts/<str:post_id>/", views.post_detail, name="post-detail"),
    path("labs/<slug:lab>/formulas/by-id/<str:formula_id>/", views.formula_by_id, name="formula-by-id"),
    path("labs/<slug:lab>/formulas/<path:visual_id>/", views.formula_detail, name="formula-detail"),
    path(
        "labs/<slug:lab>/collection/visual-ids/<int:version>/",
        views.visual_map_detail,
        name="visual-map-detail",
    ),
    path("labs/<slug:lab>/collection/", views.collection_detail, name="collection-detail"),
    path("labs/<slug:lab>/collection/imports/<int:record>/", views.import_detail, name="import-detail"),
    path("labs/<slug:lab>/collection/imports/<int:record>/status/", views.import_status, name="import-status"),
    path("labs/<slug:lab>/collection/imports/<int:record>/problems.tsv", views.import_problems, name="import-problems"),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/<str:query_id>/thread/",
        views.topic_thread,
        name="topic-thread",
    ),
]
