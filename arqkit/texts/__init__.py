"""Text work without Django: sanitize posts, find formulas, typeset LaTeX, make search queries."""
