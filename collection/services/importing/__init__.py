"""What takes the files of a collection in."""
