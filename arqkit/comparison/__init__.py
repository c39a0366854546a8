"""Comparison of runs: differences by topic, significance, effect size, similarity of rankings."""
