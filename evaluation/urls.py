"""URLs of leaderboards and scores."""

from django.urls import path

from arqlab.web.pages import TASK
from evaluation import apis
from evaluation.views import (
    boards,
    breakdown,
    comparison,
    further,
    qrels,
    rankings,
    releasing,
    rounds,
    topics,
)

app_name = "evaluation"
urlpatterns = [
    *boards.pages.urls,
    *breakdown.pages.urls,
    *comparison.pages.urls,
    *further.pages.urls,
    *qrels.pages.urls,
    *rankings.pages.urls,
    *releasing.pages.urls,
    *rounds.pages.urls,
    *topics.pages.urls,
    path(f"api/{TASK}leaderboard/", apis.LeaderboardApi.as_view(), name="api-leaderboard"),
    path(f"api/{TASK}runs/<int:run>/scores/", apis.RunScoresApi.as_view(), name="api-run-scores"),
]
