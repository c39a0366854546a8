"""Judgments: qrels derived from them, differences between qrels, guidelines, estimated completion."""
