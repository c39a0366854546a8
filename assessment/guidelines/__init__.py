"""Guidelines for assessors, in versions."""
