"""People in a study: invitations, qualification, assignments and withdrawal."""
