"""The addresses of the app."""

from django.urls import path

from assessment import views

app_name = "assessment"
_QRELS = "labs/<slug:lab>/tasks/<slug:task>/qrels/"
urlpatterns = [
    path("labs/<slug:lab>/visual-ids/<int:version>/judged/", views.touched_list, name="touched-list"),
    path(_QRELS, views.qrels_list, name="qrels-list"),
    path(f"{_QRELS}draft/", views.qrels_draft, name="qrels-draft"),
    path(f"{_QRELS}diff/", views.qrels_diff, name="qrels-diff"),
    path(f"{_QRELS}<int:version>/", views.qrels_detail, name="qrels-detail"),
    path(f"{_QRELS}<int:version>/current/", views.qrels_current, name="qrels-current"),
]
