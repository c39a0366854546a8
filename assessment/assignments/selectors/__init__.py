"""Queries on assignments and their progress."""
