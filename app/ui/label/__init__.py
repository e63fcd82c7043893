"""The views of page Label; each is one file with a `show(loaded, reviewer)`."""
