"""Qrels files and files of judgments made elsewhere."""
