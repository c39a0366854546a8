"""Judging for the page and for programs: the same services under the same rules."""
