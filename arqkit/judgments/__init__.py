"""Judgments: qrels, differences between qrels, guidelines and estimated completion."""
