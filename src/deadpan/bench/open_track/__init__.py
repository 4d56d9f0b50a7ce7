"""The open track: one-sentence explanations, marked by vectors, a judge model and people."""
