"""The life of a study: made from an upload, steered while it runs, and logged."""
