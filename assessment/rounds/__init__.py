"""Rounds of judging in addition to the official one."""
