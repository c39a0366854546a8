"""Assessors and teams at work while parts of the server fail."""
