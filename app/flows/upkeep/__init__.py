"""Keeping a workspace in order: backup, doctor, deleting, pruning."""
