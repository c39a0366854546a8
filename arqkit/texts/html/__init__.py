"""HTML of posts, titles and comments: sanitize it, find its formulas and render pages."""
