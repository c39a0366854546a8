"""Import, indexing and search of collections, their visual ids, and rendering of their posts."""
