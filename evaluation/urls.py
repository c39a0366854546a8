"""URLs of leaderboards and scores."""

from django.urls import path

from arqlab.web import TASK
from arqlab.web.patterns import API, pages_in
from evaluation import apis

app_name = "evaluation"
urlpatterns = [
    *pages_in("evaluation"),
    path(f"{API}{TASK}leaderboard/", apis.LeaderboardApi.as_view(), name="api-leaderboard"),
    path(
        f"{API}{TASK}runs/<number:run>/scores/", apis.RunScoresApi.as_view(), name="api-run-scores"
    ),
]
