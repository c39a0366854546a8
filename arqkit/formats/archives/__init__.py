"""Compressed files and archives, read without trusting the sender."""
