"""One layer a file. Rows are padded on the right; every layer gives what it would give without padding."""
