"""Formulas: layout strings, visual identity, similarity."""
