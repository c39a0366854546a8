"""The pages of a collection."""
