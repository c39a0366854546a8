"""Stack Exchange data dumps: their files, rows and records."""
