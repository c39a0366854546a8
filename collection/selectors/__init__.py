"""Queries on collections, their posts and formulas."""
