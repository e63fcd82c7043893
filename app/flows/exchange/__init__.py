"""Bring your own, and take it with you: import and export of everything a collection has."""
