"""URLs of the app."""

from django.urls import path

from collection.views.formulas import formula_by_id, formula_detail, visual_map_detail
from collection.views.imports import (
    collection_detail,
    import_detail,
    import_problems,
    import_status,
)
from collection.views.threads import post_detail, post_list, topic_thread

app_name = "collection"
urlpatterns = [
    path("labs/<slug:lab>/posts/", post_list, name="post-list"),
    path("labs/<slug:lab>/posts/<path:post_id>/", post_detail, name="post-detail"),
    path("labs/<slug:lab>/formulas/by-id/<str:formula_id>/", formula_by_id, name="formula-by-id"),
    path("labs/<slug:lab>/formulas/<path:visual_id>/", formula_detail, name="formula-detail"),
    path(
        "labs/<slug:lab>/collection/visual-ids/<int:version>/",
        visual_map_detail,
        name="visual-map-detail",
    ),
    path("labs/<slug:lab>/collection/", collection_detail, name="collection-detail"),
    path("labs/<slug:lab>/collection/imports/<int:record>/", import_detail, name="import-detail"),
    path(
        "labs/<slug:lab>/collection/imports/<int:record>/status/",
        import_status,
        name="import-status",
    ),
    path(
        "labs/<slug:lab>/collection/imports/<int:record>/problems.tsv",
        import_problems,
        name="import-problems",
    ),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/<str:query_id>/thread/",
        topic_thread,
        name="topic-thread",
    ),
]
