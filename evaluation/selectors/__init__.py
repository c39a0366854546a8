"""Queries on scores and leaderboards."""
