"""What loads a collection, makes its visual ids, and renders its posts."""
