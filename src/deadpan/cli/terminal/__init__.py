"""Output of commands: tables and JSON, a progress bar, a live table of runs."""
