"""Reusability of a test collection: how its scores change without a part of its judgments."""
