"""Assignments: who judges which topic, and progress."""
