"""The tour: every stage at work in small, one stop per file, ending in one page."""
