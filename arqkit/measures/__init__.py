"""Evaluation measures: names, measures in columns, scores of runs."""
