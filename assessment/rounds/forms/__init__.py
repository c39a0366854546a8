"""Forms of rounds."""
