"""Figures computed from the answers: progress, agreement, disagreements, pay."""
