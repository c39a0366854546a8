"""Queries of the radar."""
