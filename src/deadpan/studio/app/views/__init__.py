"""The views, one file per kind of page."""
