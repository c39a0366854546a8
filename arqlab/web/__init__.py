"""The mechanisms of pages, each written once."""
