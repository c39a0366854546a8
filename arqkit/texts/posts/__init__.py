"""Text of posts: words, search queries, snippets, readability and topics from questions."""
