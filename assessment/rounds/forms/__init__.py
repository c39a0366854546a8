"""Forms that make rounds."""
