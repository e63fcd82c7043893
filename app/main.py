"""The dashboard's entry: page configuration and navigation, nothing else."""

from app.ui import shell

shell.run()
