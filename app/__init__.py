"""Relevance Desk: labels, scores and comparisons for retrieval quality."""

__version__ = "0.5.0"
