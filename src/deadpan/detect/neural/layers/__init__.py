"""One layer per file. Rows are padded on the right; padding never changes a result."""
