"""Relevance Desk: labels, scores and comparisons for retrieval quality."""

__version__ = "0.4.0"
