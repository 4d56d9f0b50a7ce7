"""Detection systems without networks, the blend of any of them, and the features and solver that they share."""
