"""Detection systems that need no neural network, one file each, and the blend of any of them."""
