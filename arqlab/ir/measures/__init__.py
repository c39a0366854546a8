"""Evaluation measures: names, prime measures in columns, scores of runs."""
