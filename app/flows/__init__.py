"""The work itself, as the command and the pages call it."""
