"""Judging: items, leases, judgments, the judging page and its API."""
