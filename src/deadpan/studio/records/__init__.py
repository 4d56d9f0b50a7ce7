"""Records of a study: created, written while people work, exported, released and backed up."""
