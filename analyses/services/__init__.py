"""Scoring of runs, and release of leaderboards."""
