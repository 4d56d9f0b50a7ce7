"""Numbers computed from texts: n-grams, signals, and the logistic regression on top of them."""
