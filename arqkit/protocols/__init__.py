"""Evaluation protocols as data: presets and what an organizer may override."""
