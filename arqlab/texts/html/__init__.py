"""Posts, titles and comments: found formulas, made safe, and composed as the HTML of a page."""
