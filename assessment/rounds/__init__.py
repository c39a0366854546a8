"""Rounds of judging beside the official one."""
