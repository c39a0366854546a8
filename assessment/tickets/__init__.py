"""Tickets: items that assessors reported with a label that is not a judgment."""
