"""Parts of page Retrieve."""
