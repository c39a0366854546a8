"""Formulas: repair LaTeX, typeset it for pages, and convert it for visual identity."""
