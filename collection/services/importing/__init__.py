"""Import of the files of a collection: posts, related files and the formula index."""
