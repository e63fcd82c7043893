"""Labels for others: what is unpublished, a commit of it, a file of it."""
