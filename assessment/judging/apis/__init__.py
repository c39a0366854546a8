"""The judging API, for the judging page and for programs."""
