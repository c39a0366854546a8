"""Assignments of topics to assessors, and judging progress."""
