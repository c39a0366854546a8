"""URLs of leaderboards and scores."""

from django.urls import path

from evaluation import apis
from evaluation.views import (
    adjudication,
    boards,
    certificates,
    comparison,
    paper_kits,
    questions,
    rankings,
    releasing,
    runs,
    second,
    topics,
)

app_name = "evaluation"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"
urlpatterns = [
    path(f"{_TASK}adjudication/", adjudication.adjudication_list, name="adjudication-list"),
    path(f"{_TASK}rounds/second-<int:number>/", second.second_detail, name="second-detail"),
    path(
        f"{_TASK}rounds/questions-<int:number>/",
        questions.questions_detail,
        name="questions-detail",
    ),
    path(f"{_TASK}leaderboard/", boards.leaderboard, name="leaderboard"),
    path(f"{_TASK}leaderboard/release/", releasing.leaderboard_release, name="leaderboard-release"),
    path(f"{_TASK}leaderboard/compare/", comparison.comparison, name="comparison"),
    path(f"{_TASK}leaderboard/pairs/", comparison.comparison_matrix, name="comparison-matrix"),
    path(f"{_TASK}leaderboard/hide/", releasing.leaderboard_hide, name="leaderboard-hide"),
    path(
        f"{_TASK}qrels/<int:version>/certificate/",
        certificates.certificate_detail,
        name="certificate-detail",
    ),
    path(
        f"{_TASK}qrels/<int:version>/paper-kit/",
        paper_kits.paper_kit_detail,
        name="paper-kit-detail",
    ),
    path(f"{_TASK}runs/<int:run>/scores/", runs.run_scores, name="run-scores"),
    path(f"{_TASK}runs/<int:run>/scores/<str:query_id>/", rankings.run_ranking, name="run-ranking"),
    path(f"{_TASK}topics/<str:query_id>/scores/", topics.topic_scores, name="topic-scores"),
    path(f"api/{_TASK}leaderboard/", apis.LeaderboardApi.as_view(), name="api-leaderboard"),
    path(f"api/{_TASK}runs/<int:run>/scores/", apis.RunScoresApi.as_view(), name="api-run-scores"),
]
