"""Agreement of assessors."""
