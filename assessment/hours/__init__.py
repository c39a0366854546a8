"""Active hours of assessors by task, round, topic and day, and their cost."""
