"""The tour's stops, one a file."""
