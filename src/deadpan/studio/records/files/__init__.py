"""Files that go in and out: exports, releases, imports, backups."""
