"""Submission, validation and changes of runs, with their rules, for every entry point alike."""
