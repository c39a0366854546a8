"""The pages of leaderboards and of the scores of runs."""
