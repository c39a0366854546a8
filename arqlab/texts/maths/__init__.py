"""Formulas: LaTeX mended, typeset for pages, and converted for visual identity."""
