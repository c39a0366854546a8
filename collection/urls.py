"""The addresses of the app."""

from django.urls import path

from collection import views

app_name = "collection"
urlpatterns = [
    path("labs/<slug:lab>/posts/<str:post_id>/", views.post_detail, name="post-detail"),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/<str:query_id>/thread/",
        views.topic_thread,
        name="topic-thread",
    ),
]
