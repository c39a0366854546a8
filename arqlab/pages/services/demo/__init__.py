"""Builds the demo lab and plays its weeks: runs, judgments, qrels, leaderboards."""
