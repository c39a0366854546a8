"""Text work: sanitize HTML, find and typeset formulas, read the text of posts. Needs no database."""
