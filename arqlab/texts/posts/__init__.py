"""The text of posts: words and formulas, search queries, snippets, readability, topics made from
questions.
"""
