"""Steps that make a dialogue: source, situation, politeness, dialogue, contrast."""
