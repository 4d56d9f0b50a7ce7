"""Items and sets: read, validate, audit, seal, export, and show to models and people."""
