"""Qrels: the draft, frozen versions, differences."""
