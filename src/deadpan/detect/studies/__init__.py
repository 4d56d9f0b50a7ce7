"""Studies of detectors: train, evaluate, compare, transfer, ablate, kinds. Guards are on by default."""
