"""Run files: recognize the format, check every line, report problems, repair, index."""
