"""What writes scores and releases leaderboards."""

from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from evaluation.services.scoring import score_runs, score_waiting

__all__ = ["hide_leaderboard", "release_leaderboard", "score_runs", "score_waiting"]
