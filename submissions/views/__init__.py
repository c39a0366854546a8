"""The pages of runs."""
