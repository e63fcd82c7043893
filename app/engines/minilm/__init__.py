"""The vocabulary of the bundled embedder, as package data."""
