"""Formulas: layout strings, visual identity and similarity."""
