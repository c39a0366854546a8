"""Formula index TSV files of all ARQMath editions."""
