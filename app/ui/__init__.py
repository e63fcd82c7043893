"""What the pages share: session state, text and tables on screen."""
