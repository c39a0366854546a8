"""Breakdowns: the scores of runs by groups of topics."""
